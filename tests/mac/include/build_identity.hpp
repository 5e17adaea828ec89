// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Generated where it is built. */
#define SMELT_SOURCE_IDENTITY ""
