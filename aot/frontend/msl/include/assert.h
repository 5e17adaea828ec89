// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared with the program: assert.
#include <metal_assert>
