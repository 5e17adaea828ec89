// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The members of the structure behind a buffer. One that holds pointers, or gives a member an [[id]], is an argument
// buffer, also when the pointer is in a structure inside; then every member has an id (Metal Shading Language
// Specification 2.13.1): what [[id]] says, else the one after the member before it. An array takes one for each
// element, a structure as many as its members.
#pragma once

#include "msl/facts/kernel_facts.hpp"

#include "clang/AST/Type.h"
#include "clang/Basic/SourceLocation.h"

namespace clang {
class Sema;
}

namespace smelt::aot::msl {

/// What is wrong; `at` is invalid where the parameter is the place.
struct MemberTrouble {
  clang::SourceLocation at;
  std::string text;
};

/// Sets fact.fields and fact.is_argument_buffer, of a complete and valid `pointee`; leaves them alone when it is no
/// structure of the user's. Structures inside are taken apart in argument buffers only.
std::optional<MemberTrouble> read_members(clang::Sema& sema, clang::QualType pointee, ParameterFact& fact);

/// The name of a library type that is not for compute alone: textures, samplers, tables. Empty for others.
std::string beyond(clang::QualType type);

}  // namespace smelt::aot::msl
