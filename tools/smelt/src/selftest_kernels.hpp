// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

namespace smelt::cli {

/// tools/selftest/kernels.metal.
extern const std::string_view kSelftestKernels;

}  // namespace smelt::cli
