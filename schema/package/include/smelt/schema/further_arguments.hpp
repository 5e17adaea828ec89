// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels with more buffers than Metal has slots. The last slot then is an argument buffer of this name: its members
// are the arguments from there on, in order, each an address or a value. The compiler makes it of LLVM IR; who calls by
// position fills it (Python does).
#pragma once

#include <string_view>

namespace smelt::schema {

inline constexpr std::string_view kFurtherArguments = "further_arguments";

}  // namespace smelt::schema
