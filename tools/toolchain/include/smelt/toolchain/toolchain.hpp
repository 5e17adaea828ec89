// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tools by which build files compile Metal on a Mac, as one program that goes by the name it is called by: xcrun,
// metal, metallib and their kin. Options, messages and exit codes are theirs, so that the build files stay as they are;
// docs/reference/toolchain.md has every option and what becomes of it.
#pragma once

#include "smelt/base/result.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::toolchain {

/// "xcrun", "metal", ...: the names that run() knows.
std::span<const std::string_view> tool_names();
/// Whether a program called by this path (argv[0]) is one of them.
bool is_tool(std::string_view path);

/// Runs a tool to its end: reads and writes files, stdin, stdout and stderr. `path` is what it was called by, whose
/// folder the other tools are in; `arguments` without it. The result is the exit code. Not for several threads at once.
int run(const std::string& path, std::span<const std::string> arguments);

/// Makes a folder with a link to `program` for each tool, and a folder that stands for each SDK. What is there of an
/// earlier call is replaced, anything else is an error.
Result<void> install(const std::filesystem::path& folder, const std::filesystem::path& program);

/// Markdown rows of options.def, for the page in docs/reference.
std::string option_table();

}  // namespace smelt::toolchain
