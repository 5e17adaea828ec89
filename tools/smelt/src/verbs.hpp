// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every verb of the command line: add_<verb> puts its options into the app and, when the verb was asked for, does it.
#pragma once

#include "context.hpp"

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace smelt::cli {

#define SMELT_VERB(name) void add_##name(CLI::App& app, Context& context);
#include "verbs.def"
#undef SMELT_VERB

/// Puts an example at the end of the verb's help, before the line about exit codes.
void show_example(CLI::App& verb, const std::string& example);

/// The option takes a size as parse_size reads it: "20GiB".
CLI::Option* take_size(CLI::Option* option);

}  // namespace smelt::cli
