// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt toolchain DIR: a folder for PATH, with a link to this program by the name of each of Apple's Metal tools.
#include "smelt/toolchain/toolchain.hpp"

#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>

namespace smelt::cli {
namespace {

struct ToolchainOptions {
  std::string folder;
  bool lists_options = false;
};

Result<void> run_toolchain(const ToolchainOptions& options) {
  if (options.lists_options) return print(toolchain::option_table());
  if (options.folder.empty()) return fail(Errc::invalid_argument, "toolchain: DIR is missing");
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return fail(Errc::io, "/proc/self/exe: {}", error.message());
  return toolchain::install(options.folder, program);
}

}  // namespace

void add_toolchain(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand(
      "toolchain", "Make a folder for PATH with xcrun, metal, metallib and other tools with Apple's names");
  auto options = std::make_shared<ToolchainOptions>();
  verb->add_option("DIR", options->folder, "Folder to make; links of an earlier call are replaced");
  verb->add_flag("--options", options->lists_options, "Print the table of the tools' options instead, as Markdown");
  show_example(*verb, "smelt toolchain tools && PATH=$PWD/tools:$PATH make");
  verb->callback([options, &context] { context.finish(run_toolchain(*options)); });
}

}  // namespace smelt::cli
