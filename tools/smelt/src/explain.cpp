// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt explain FILE -o page.html: source, AIR and CPU code of every function, side by side; the work is in explain/.
#include "explain/explain.hpp"

#include "smelt/base/files.hpp"

#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace smelt::cli {
namespace {

struct ExplainCommandOptions {
  ExplainOptions with;
  std::string output, level;
  bool no_cpu = false;
};

Result<void> run_explain(ExplainCommandOptions& options) {
  ExplainOptions& with = options.with;
  with.cpu = !options.no_cpu;
  if (!options.level.empty()) {
    SMELT_TRY(with.level, aot::parse_cpu_level(options.level));
  }
  SMELT_TRY(const Bytes file, read_file(with.name));
  // A target is what source is compiled for, and which library of a package is shown.
  if (!with.target.empty()) {
    if (auto target = aot::parse_target(with.target)) with.compile.targets = {std::move(*target)};
  }
  SMELT_TRY(const Page page, explain(file, with));
  return write_file(options.output, as_bytes(page_as_html(page)));
}

}  // namespace

void add_explain(CLI::App& app, Context& context) {
  CLI::App* verb =
      app.add_subcommand("explain", "Write a page with source, AIR and CPU code of every function side by side");
  auto options = std::make_shared<ExplainCommandOptions>();
  aot::CompileOptions& compile = options->with.compile;
  verb->add_option("FILE", options->with.name, "Metal source, LLVM IR, Metal library or package")->required();
  verb->add_option("-o,--output", options->output, "Page (HTML) to write")->required();
  verb->add_option("--target", options->with.target,
                   "Target of source, or of a package's library (default: the first)");
  verb->add_option("--function", compile.functions, "Function to show (default: all); may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--source", options->with.sources, "File with the source of a library; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--cpu", options->level,
                   "Level of the CPU code: " + cpu_level_names(" or ") + " (default: this machine's)");
  verb->add_flag("--no-cpu", options->no_cpu, "Show no CPU code");
  verb->add_option("-I,--include", compile.include_folders, "Folder with included files; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("-D,--define", compile.definitions, "Macro to define, NAME or NAME=VALUE; may be repeated")
      ->allow_extra_args(false);
  verb->add_flag_callback(
      "--fast-math", [&compile] { compile.math = aot::kFastMath; }, "Fast math mode and fast functions");
  verb->add_option("-j,--jobs", options->with.threads, "Threads to compile with (default: one per core)")
      ->check(CLI::NonNegativeNumber);
  add_reading_options(*verb, options->with.reading);
  show_example(*verb, "smelt explain saxpy.metal -o saxpy.html");
  verb->callback([options, &context] { context.finish(run_explain(*options)); });
}

}  // namespace smelt::cli
