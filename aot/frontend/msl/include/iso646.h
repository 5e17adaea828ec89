// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared with the program: in C++ "and", "or" and "not" are words of the language.
