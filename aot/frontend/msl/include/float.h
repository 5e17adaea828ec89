// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared with the program: FLT_MAX and its kin.
#include <metal_limits>
