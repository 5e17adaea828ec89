// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt extract FILE.smelt --target ios16 -o OUT.metallib: a Metal library out of a package, for a program that loads
// no packages.
#include "smelt/base/files.hpp"
#include "smelt/schema/package.hpp"

#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace smelt::cli {
namespace {

struct ExtractOptions {
  std::string input, output, target, library;
};

Result<void> run_extract(const ExtractOptions& options) {
  SMELT_TRY(const Bytes file, read_file(options.input));
  auto package = schema::Package::open(file);
  if (!package) return tl::unexpected(std::move(package).error().in(options.input));
  std::vector<schema::SliceView> found;
  std::string there;
  for (uint32_t i = 0; i < package->library_count(); ++i) {
    const schema::LibraryView library = package->library(i);
    if (!options.library.empty() && library.name != options.library) continue;
    for (uint32_t j = 0; j < library.slices.count; ++j) {
      const schema::SliceView slice = package->slice(library.slices.first + j);
      if (slice.kind != schema::SliceKind::metallib) continue;
      there += fmt::format("{}{} of {}", there.empty() ? "" : ", ", printable(slice.target), printable(library.name));
      if (options.target.empty() || slice.target == options.target) found.push_back(slice);
    }
  }
  if (found.size() != 1)
    return fail(Errc::invalid_argument,
                "{}: {} of its Metal libraries match; it has {}; choose one with --target and --library", options.input,
                found.empty() ? "none" : "several", there.empty() ? "none" : there);
  SMELT_TRY_VOID(schema::check_part(found.front().part, options.input));
  return write_file(options.output, found.front().part.bytes);
}

}  // namespace

void add_extract(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("extract", "Write a Metal library out of a package");
  auto options = std::make_shared<ExtractOptions>();
  verb->add_option("FILE", options->input, "Package to read")->required();
  verb->add_option("-o,--output", options->output, "Metal library to write")->required();
  verb->add_option("--target", options->target, "Target of the library, e.g. ios16 (default: the only one)");
  verb->add_option("--library", options->library, "Name of the library (default: the only one)");
  show_example(*verb, "smelt extract sprite.smelt --target ios16 -o sprite.metallib");
  verb->callback([options, &context] { context.finish(run_extract(*options)); });
}

}  // namespace smelt::cli
