// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt toolchain-tool metal ...: one of Apple's tools, without a link of its name. All that follows is the tool's.
#include "smelt/toolchain/toolchain.hpp"

#include "verbs.hpp"

#include <CLI/CLI.hpp>

namespace smelt::cli {

void add_toolchain_tool(CLI::App& app, Context& context) {
  CLI::App* verb =
      app.add_subcommand("toolchain-tool", "Run one of the tools of 'smelt toolchain': metal, metallib, ...");
  verb->prefix_command();
  verb->callback([verb, &context] {
    const std::vector<std::string> words = verb->remaining();
    if (words.empty() || !toolchain::is_tool(words[0])) {
      std::string known;
      for (const std::string_view name : toolchain::tool_names()) known += fmt::format(" {}", name);
      const Result<void> wrong =
          fail(Errc::invalid_argument, "toolchain-tool: want the name of a tool, one of{}", known);
      return context.finish(wrong);
    }
    context.exit_code = toolchain::run(words[0], std::span(words).subspan(1));
  });
}

}  // namespace smelt::cli
