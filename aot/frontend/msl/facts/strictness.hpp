// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Clang takes and Metal does not.
#pragma once

#include "clang/Basic/SourceLocation.h"

#include <set>
#include <vector>

namespace clang {
class Sema;
}

namespace smelt::aot::msl {

/// Reports errors at the user's lines. Looks at the user's code alone, instantiations included. `thread_words`: where
/// the word `thread` stood (TokenFilter::take_thread_words). Gives the '?', as raw encodings, of those choices between
/// objects in two spaces that are an object of no space to Clang: a value in Metal.
std::set<clang::SourceLocation::UIntTy> check_strictness(
    clang::Sema& sema, const std::vector<clang::SourceLocation::UIntTy>& thread_words);

}  // namespace smelt::aot::msl
