// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt: one verb per file; this one only gathers them. Exit 0 done, 1 failed, 2 wrong usage. Called by the name of one
// of Apple's tools it is that one.
#include "smelt/toolchain/toolchain.hpp"

#include "usage.hpp"
#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <iterator>
#include <new>
#include <string_view>

namespace smelt::cli {
namespace {

/// The verbs that these words may be about. The options of all of them take 2.6 million instructions to put together,
/// so one that is named is put together alone, and for the version none is.
void add_verbs(CLI::App& app, Context& context, std::string_view first) {
  if (first == "--version") return;
  struct Verb {
    std::string_view name;
    void (*add)(CLI::App&, Context&);
  };
  static constexpr Verb kVerbs[] = {
#define SMELT_VERB(name) {#name, add_##name},
#include "verbs.def"
#undef SMELT_VERB
  };
  const auto* const named =
      std::find_if(std::begin(kVerbs), std::end(kVerbs), [first](const Verb& verb) { return verb.name == first; });
  if (named != std::end(kVerbs)) return named->add(app, context);
  for (const Verb& verb : kVerbs) verb.add(app, context);
}

int run(int argc, char** argv) {
  CLI::App app("Compiles kernels ahead of time: LLVM IR or Metal source to Metal libraries and packages.", "smelt");
  app.require_subcommand(1);
  app.set_version_flag("--version", "smelt " SMELT_VERSION);
  app.footer("FILE and OUT may be -, which is stdin or stdout. Exit codes: 0 done, 1 failed, 2 wrong usage.");
  Context context;
  add_verbs(app, context, argc > 1 ? argv[1] : "");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version are results, hence stdout; all other complaints are about the usage, and may quote anything.
    if (error.get_exit_code() == 0) return app.exit(error, std::cout, std::cerr);
    std::cerr << printable(usage_complaint(app, error));
    return kUsageError;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::perror("smelt: error: stdout");
    return kFailed;
  }
  return context.exit_code;
}

}  // namespace
}  // namespace smelt::cli

int main(int argc, char** argv) {
  // Errors are values; what is thrown comes from the libraries below.
  try {
    if (argc > 0 && smelt::toolchain::is_tool(argv[0])) {
      const std::vector<std::string> words(argv + 1, argv + argc);
      return smelt::toolchain::run(argv[0], words);
    }
    return smelt::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("smelt: error: out of memory (out_of_memory)\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "smelt: error: %s (io)\n", smelt::printable(error.what()).c_str());
  }
  return smelt::cli::kFailed;
}
