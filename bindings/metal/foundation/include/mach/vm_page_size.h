/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef SMELT_MACH_VM_PAGE_SIZE_H
#define SMELT_MACH_VM_PAGE_SIZE_H

#include <mach/mach.h>

#endif
