/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Metal Performance Primitives: mpp::tensor_ops (smelt/tensor.h).
#ifndef __METAL_PERFORMANCE_PRIMITIVES
#define __METAL_PERFORMANCE_PRIMITIVES

#include <metal_tensor>

#endif
