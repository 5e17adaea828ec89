// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal takes a shift count modulo the width of the value, C++ calls a larger one undefined. Clang's evaluator of
// constants counts as Metal does where the tree's language is OpenCL (translate.cpp). Its code generator folds a shift
// of two constants to poison before any pass can mask the count, so the tree gets the mask first.
#pragma once

namespace clang {
class ASTContext;
}

namespace smelt::aot::msl {

/// `a << n` becomes `a << (n & 31)` in the source's own functions and variables, unless n is a constant below the
/// width. Runs once, on the finished tree.
void mask_shift_counts(clang::ASTContext& context);

}  // namespace smelt::aot::msl
