// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --checked and --checked=WORDS, for every verb that has it.
#pragma once

#include "smelt/base/checks.hpp"

namespace CLI {
class App;
}

namespace smelt::cli {

/// Without words: all checks that there are. Without the option: what SMELT_CHECK says. `checked` outlives `verb`.
void add_checked(CLI::App& verb, Checks& checked, const char* help);

}  // namespace smelt::cli
