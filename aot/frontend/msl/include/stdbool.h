// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared with the program: bool, true and false are words of the language.
#ifndef __STDBOOL_H
#define __STDBOOL_H
#define __bool_true_false_are_defined 1
#endif
