// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pragmas that Metal has and Clang says in other words.
#pragma once

namespace clang {
class Preprocessor;
}

namespace smelt::aot::msl {

/// #pragma METAL fp contract(off|on|fast), math_mode(safe|relaxed|fast). To be called before the first token is read,
/// when the parser has brought Clang's own.
void add_metal_pragmas(clang::Preprocessor& preprocessor);

}  // namespace smelt::aot::msl
