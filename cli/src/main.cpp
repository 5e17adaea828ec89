// smelt: one verb per file; this one only gathers them. Exit 0 done, 1 could not, 2 asked wrongly.
#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <iostream>

int main(int argc, char** argv) {
  CLI::App app("Fires kernels ahead of time: LLVM IR or MSL in, versioned Metal libraries out.", "smelt");
  app.require_subcommand(1);
  app.set_version_flag("--version", "smelt " SMELT_VERSION);
  app.footer("FILE and OUT may be -, stdin or stdout. Exit 0: done, 1: could not, 2: asked wrongly.");
  smelt::cli::Context context;
#define SMELT_VERB(name) smelt::cli::add_##name(app, context);
#include "verbs.def"
#undef SMELT_VERB

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version are results, hence stdout; all other complaints mean that we were asked wrongly.
    return app.exit(error, std::cout, std::cerr) == 0 ? smelt::cli::kDone : smelt::cli::kAskedWrongly;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::perror("smelt: error: stdout");
    return smelt::cli::kCouldNot;
  }
  return context.exit_code;
}
