// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Clang takes and Metal does not.
#pragma once

#include "clang/Basic/SourceLocation.h"

#include <vector>

namespace clang {
class Sema;
}

namespace smelt::aot::msl {

/// Reports errors at the user's lines. Looks at the user's code alone, instantiations included. `thread_words`: where
/// the word `thread` stood (TokenFilter::take_thread_words).
void check_strictness(clang::Sema& sema, const std::vector<clang::SourceLocation::UIntTy>& thread_words);

}  // namespace smelt::aot::msl
