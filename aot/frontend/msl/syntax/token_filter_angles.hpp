// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Template arguments by their looks: `f<A, 3>(`. What looks so and is two comparisons is rarer than either.
#pragma once

#include "clang/Lex/Token.h"

#include <span>

namespace smelt::aot::msl {

/// Behind the '>' that closes the '<' at `less`, when what is between may be template arguments and a '(', '{' or '::'
/// follows; else `less`. `tokens` end with an end-of-file token.
size_t skip_template_arguments(std::span<const clang::Token> tokens, size_t less);

/// Whether the ',' at `comma` stands between template arguments.
bool inside_template_arguments(std::span<const clang::Token> tokens, size_t comma);

}  // namespace smelt::aot::msl
