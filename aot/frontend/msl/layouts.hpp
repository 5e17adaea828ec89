// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors and matrices are types of the language in Metal, and classes in our headers. Clang lays out a structure by
// what its members are: it packs plain types only, and puts a derived structure's members into the padding of a base
// that is no POD of C++03, which a class with constructors never is. So these classes are marked as plain.
#pragma once

namespace clang {
class TagDecl;
}

namespace smelt::aot::msl {

/// Call it when the definition of a type ends, before anything asks for its layout. It also packs those members of a
/// packed structure that are not PODs, as Clang does for Apple's systems.
void lay_out_as_metal(clang::TagDecl* tag);

}  // namespace smelt::aot::msl
