// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt diff A B: two libraries, function by function; the work is in diff/.
#include "smelt/base/files.hpp"

#include "diff/report.hpp"
#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace smelt::cli {
namespace {

struct DiffCommandOptions {
  DiffOptions with;
  bool json = false, no_store = false;
  size_t lines = 40;
  std::string run = "changed";
  std::string output;
};

/// Whether anything differs.
Result<bool> run_diff(DiffCommandOptions& options) {
  DiffOptions& with = options.with;
  if (options.json && !options.output.empty())
    return fail(Errc::invalid_argument, "--json prints, and -o writes a page: give one of them");
  if (with.name_a == "-" && with.name_b == "-")
    return fail(Errc::invalid_argument, "- is stdin, which only one of the two files can be");
  SMELT_TRY(const Bytes a, read_file(with.name_a));
  SMELT_TRY(const Bytes b, read_file(with.name_b));
  with.use_store = !options.no_store;
  with.run = options.run == "all" ? RunKernels::all : options.run == "none" ? RunKernels::none : RunKernels::changed;
  with.most_lines = std::max(with.most_lines, options.lines);
  SMELT_TRY(const Json report, report_differences(a, b, with));
  if (!options.output.empty()) {
    SMELT_TRY_VOID(write_file(options.output, as_bytes(page_as_html(differences_as_page(report)))));
    return report["differs"].get<bool>();
  }
  // Names come from the files: what is no UTF-8 is replaced, not thrown about.
  const std::string text = options.json ? report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
                                        : differences_as_text(report, options.lines);
  SMELT_TRY_VOID(print(text));
  return report["differs"].get<bool>();
}

}  // namespace

void add_diff(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("diff", "Compare two Metal libraries, function by function");
  verb->footer(
      "Example:\n  smelt diff before.metallib after.metallib\n\n"
      "Exit codes: 0 nothing differs, 1 something does, 2 wrong usage or a file that cannot be read.");
  auto options = std::make_shared<DiffCommandOptions>();
  verb->add_option("A", options->with.name_a, "Metal library, universal file or .smelt package")->required();
  verb->add_option("B", options->with.name_b, "Metal library or package to compare it with")->required();
  verb->add_option("-o,--output", options->output, "Page (HTML) to write, instead of printing");
  verb->add_option("--target", options->with.target, "Target whose libraries are compared (default: all)");
  verb->add_option("--function", options->with.functions, "Function to compare (default: all); may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--lines", options->lines, "Lines of code to print for each function (default: 40)")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--run", options->run, "Kernels to run on the CPU with equal random inputs (default: changed)")
      ->check(CLI::IsMember({"changed", "all", "none"}));
  verb->add_flag("--no-store", options->no_store, "Neither read nor write the store");
  verb->add_flag("--json", options->json, "Print JSON for programs");
  verb->callback([options, &context] {
    auto differs = run_diff(*options);
    if (differs) {
      context.exit_code = *differs ? kFailed : kDone;
      return;
    }
    context.finish(Result<void>(tl::unexpected(std::move(differs).error())));
    context.exit_code = kUsageError;
  });
}

}  // namespace smelt::cli
