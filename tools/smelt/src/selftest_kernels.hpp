// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of `smelt selftest`; their source is tools/smelt/selftest/kernels.c.
#pragma once

namespace smelt::cli {

extern const char* const kSelftestKernels;

}  // namespace smelt::cli
