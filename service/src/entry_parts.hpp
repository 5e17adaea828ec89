// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of the parts of entries that only the compiler makes and reads; kPackagePart (stored.hpp) is what a request
// made.
#pragma once

#include <string_view>

namespace smelt::service {

inline constexpr std::string_view kKernelPart = "kernel.smelt";  // one part of a plan
inline constexpr std::string_view kWarningsPart = "warnings";    // that came with it, a line each

}  // namespace smelt::service
