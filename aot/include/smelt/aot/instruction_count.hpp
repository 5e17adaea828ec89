// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How large a kernel is, in what it is made of.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace smelt::aot {

/// Instructions in all functions of one finished AIR module (bitcode, bare or wrapped); `name` is for messages.
/// Bounded, so that it may be asked about bytes from anywhere. Errors: those of reading the module.
Result<uint64_t> instruction_count(ByteView bitcode, std::string_view name);

}  // namespace smelt::aot
