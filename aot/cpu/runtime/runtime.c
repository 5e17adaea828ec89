/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// The runtime as one translation unit, so that it is one bitcode module.
#include "exponential.c"
#undef LOG2_E
#include "logarithm.c"
// power.c uses log_parts, log1p_tail and log2_wide of logarithm.c.
#include "arithmetic.c"
#include "copy.c"
#include "double_bits.c"
#include "double_exponential.c"
// It uses exp_times of the one before.
#include "double_error_function.c"
#include "double_trigonometric.c"
#include "inverse.c"
#include "power.c"
#include "trigonometric.c"
// It uses powers.
#include "texture.c"
// It reads texels through texture.c.
#include "sample.c"
// It does for many lanes what both do for one.
#include "texture_lanes.c"
// It does the most common of that in the kernel's own code.
#include "texture_near.c"
// It does so with bytes alone.
#include "bytes_near.c"
// It samples there, too.
#include "sample_near.c"
// It loads and stores elements as texels.
#include "tensor.c"
