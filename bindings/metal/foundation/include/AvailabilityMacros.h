/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef SMELT_AVAILABILITYMACROS_H
#define SMELT_AVAILABILITYMACROS_H

#include <Availability.h>

#endif
