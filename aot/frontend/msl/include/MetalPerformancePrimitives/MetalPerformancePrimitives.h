/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Metal Performance Primitives: mpp::tensor_ops (smelt/tensor.h).
#ifndef __METAL_PERFORMANCE_PRIMITIVES
#define __METAL_PERFORMANCE_PRIMITIVES

#include "MPPTensorOpsConvolution2d.h"
#include "MPPTensorOpsMatMul2d.h"

#endif
