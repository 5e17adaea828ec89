// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared with the program: size_t and ptrdiff_t are there without it.
#ifndef __STDDEF_H
#define __STDDEF_H

#include "smelt_language.h"

#ifndef NULL
#define NULL __null
#endif
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif

#endif
