/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Metal Performance Primitives: matmul2d and its reductions (smelt/tensor.h).
#ifndef __MPP_TENSOR_OPS_MATMUL2D
#define __MPP_TENSOR_OPS_MATMUL2D

#include <metal_tensor>

#endif
