// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a function's or method's name has for objects in other spaces.
#pragma once

#include "clang/AST/DeclCXX.h"

#include <cstdint>

namespace smelt::aot::msl {

/// AIR's number of the space that a method says its object is in; 0: the thread's, or it says none.
unsigned space_of_object(const clang::CXXMethodDecl& method);

/// Whether the class has methods of this name that are for one space.
bool has_variants(const clang::CXXMethodDecl& method);
/// Whether there are functions of this name that take that parameter in another space than the thread's.
bool has_other_spaces(const clang::FunctionDecl& function, unsigned parameter);

/// In place of a parameter: what a method is called on.
inline constexpr int kOwnObject = -1;

/// Bits by AIR's numbers of spaces: where `parameter` of `taken` is in one of them, a variant that does something else
/// would be the right one, or there is none.
uint8_t wrong_spaces(const clang::FunctionDecl& taken, int parameter);
/// Those in which a constructor of the same parameters would make something else. One that is not there makes nothing
/// else: Clang takes the thread's for every space.
uint8_t made_otherwise(const clang::CXXConstructorDecl& taken);

}  // namespace smelt::aot::msl
