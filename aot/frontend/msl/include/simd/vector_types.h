/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// <simd/vector_types.h>: part of <simd/simd.h>.
#include <simd/simd.h>
