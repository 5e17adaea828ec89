// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the legaliser's tests share: IR text in, legalised modules out, and the checks every result must pass.
#pragma once

#include "legalise/legalise.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace smelt::test {

/// Parses LLVM 19 text; throws with LLVM's message.
aot::KernelModule parse_ir(std::string_view text);
aot::KernelModule parse_ir_file(const std::string& name);  ///< below tests/aot/air/cases

/// legalise() with verify_each; throws with the error's message.
std::vector<aot::air::AirModule> must_legalise(std::string_view text, std::string_view target = "macos14",
                                               aot::air::LegaliseOptions options = {});
/// The message of a legalise() that must fail.
std::string legalise_error(std::string_view text, std::string_view target = "macos14",
                           aot::air::LegaliseOptions options = {});

std::string to_text(const llvm::Module& module);
/// The text of one pass's result (options.stop_after).
std::string after_pass(std::string_view text, std::string_view pass, std::string_view target = "macos14");

/// Lines of `text` with `part` in them.
size_t count_lines(std::string_view text, std::string_view part);
bool contains(std::string_view text, std::string_view part);

/// A kernel around a body: `define void @k(<parameters>) "smelt.kernel" { entry: <body> ret void }` with declarations.
std::string kernel(std::string_view parameters, std::string_view body, std::string_view declarations = "");

}  // namespace smelt::test
