// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared with the program: INFINITY, NAN, M_PI_F. The functions are in namespace metal, as everywhere in Metal.
#include <metal_math>
