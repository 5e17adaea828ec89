// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is said of a command line that is not understood.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace smelt::cli {

/// "smelt: compile: unknown option '--outptu'; did you mean '--output'?", and a line that tells where help is. A word
/// that is unknown comes first, whatever else is missing because of it.
std::string usage_complaint(const CLI::App& app, const CLI::ParseError& error);

}  // namespace smelt::cli
