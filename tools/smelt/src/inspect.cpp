// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt inspect FILE [--json]: header, functions, arguments, versions, hashes, slices of a Metal library or a package.
#include "smelt/base/files.hpp"
#include "smelt/schema/package.hpp"

#include "inspect_report.hpp"
#include "reading.hpp"
#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace smelt::cli {
namespace {

struct InspectOptions {
  std::string input;
  bool json = false;
  ReadingOptions reading;
};

Result<std::string> report_text(ByteView file, const InspectOptions& options) {
  SMELT_TRY(const Json report, schema::Package::looks_like(file) ? report_package(file) : report_metallib(file));
  // Names come from the file: what is no UTF-8 is replaced, not thrown about.
  return options.json ? report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
                      : report_as_text(report, options.input);
}

Result<void> run_inspect(const InspectOptions& options) {
  SMELT_TRY(const Bytes file, read_file(options.input));
  const auto text = read_text_apart(options.reading, [&] { return report_text(file, options); });
  if (!text) return tl::unexpected(Error(text.error()).in(options.input));
  return print(*text);
}

}  // namespace

void add_inspect(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("inspect", "Show the content of a Metal library or a package");
  auto options = std::make_shared<InspectOptions>();
  verb->add_option("FILE", options->input, "Metal library, universal file or .smelt package")->required();
  verb->add_flag("--json", options->json, "Print JSON for programs");
  add_reading_options(*verb, options->reading);
  show_example(*verb, "smelt inspect app.smelt --json");
  verb->callback([options, &context] { context.finish(run_inspect(*options)); });
}

}  // namespace smelt::cli
