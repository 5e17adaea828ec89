// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace clang {
class Preprocessor;
}

namespace smelt::aot::msl {

/// #pragma clang __debug becomes an error: it crashes Clang or fills its stack on purpose. To be called before the
/// first token is read; add_metal_pragmas() (pragmas.hpp) does it too.
void refuse_debug_pragmas(clang::Preprocessor& preprocessor);

}  // namespace smelt::aot::msl
