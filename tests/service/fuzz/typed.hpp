// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Changes a module as LLVM's values: what comes out is sound IR that means something else.
#pragma once

#include "smelt/base/bytes.hpp"

#include <optional>
#include <random>
#include <string>

namespace smelt::test {

/// The module with some instructions, constants or nodes of metadata changed, as bitcode. Nothing when LLVM cannot read
/// it, or its verifier refuses what came out.
std::optional<Bytes> change_module(ByteView bitcode, std::mt19937_64& random, std::string& story);

}  // namespace smelt::test
