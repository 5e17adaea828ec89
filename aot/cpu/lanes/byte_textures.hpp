// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A copy of a gang's code for textures of RGBA bytes, which most pictures are: no format is looked up there, and what
// is computed can be joined with the conversions of the bytes (codegen/unorm_arithmetic.hpp).
#pragma once

namespace llvm {
class Function;
}  // namespace llvm

namespace smelt::aot::cpu {

/// `gang` becomes a choice between its code as it was and such a copy. Nothing happens where no texture that is a
/// parameter has texels in the kernel's own code, and where the code is long. link_runtime() comes after it.
void copy_for_byte_textures(llvm::Function& gang);

}  // namespace smelt::aot::cpu
