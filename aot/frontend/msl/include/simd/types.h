/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// <simd/types.h>: part of <simd/simd.h>.
#include <simd/simd.h>
