/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Metal Performance Primitives: convolution2d, which is an error by its name where it is used.
#ifndef __MPP_TENSOR_OPS_CONVOLUTION2D
#define __MPP_TENSOR_OPS_CONVOLUTION2D

#include <metal_tensor>

#endif
