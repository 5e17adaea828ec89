// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fields that keys of different things have in common. Private to aot.
#pragma once

#include "smelt/aot/compile.hpp"
#include "smelt/base/digest.hpp"

namespace smelt::aot {

void add_target(Hasher& hasher, const Target& target);

/// This compiler, and the options that change what code is made of an entry point; not targets, not names.
void add_code_options(Hasher& hasher, const CompileOptions& options);

/// The text of LLVM IR without what names its origin. Errors: those of reading it. The one part of a key that needs
/// LLVM.
Result<std::string> anonymous_text(const Source& source, const CompileOptions& options, uint32_t threads);

template <class T>
void add_number(Hasher& hasher, std::string_view name, const std::optional<T>& value) {
  hasher.field(name);
  hasher.field(uint64_t{value.has_value()});
  hasher.field(static_cast<uint64_t>(value.value_or(0)));
}

}  // namespace smelt::aot
