// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt pack A.smelt B.smelt -o MODEL.smelt: the libraries of several packages in one file, to ship with a model.
#include "smelt/base/files.hpp"
#include "smelt/schema/package.hpp"

#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace smelt::cli {
namespace {

struct PackOptions {
  std::vector<std::string> inputs;
  std::string output;
};

Result<void> pack(const PackOptions& options) {
  std::vector<std::shared_ptr<const MappedFile>> files;
  std::vector<schema::Package> packages;
  for (const std::string& input : options.inputs) {
    SMELT_TRY(files.emplace_back(), MappedFile::open(input));
    auto package = schema::Package::open(files.back()->bytes());
    if (!package) return tl::unexpected(std::move(package).error().in(input));
    packages.push_back(std::move(*package));
  }
  SMELT_TRY(const std::vector<schema::Library> merged, schema::merge_packages(packages));
  SMELT_TRY(const Bytes bytes, schema::write_package(merged));
  return write_file(options.output, bytes);
}

}  // namespace

void add_pack(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("pack", "Join packages into one");
  auto options = std::make_shared<PackOptions>();
  verb->add_option("FILE", options->inputs, "Packages to join; slices of the same library become one library")
      ->required();
  verb->add_option("-o,--output", options->output, "Package to write")->required();
  show_example(*verb, "smelt pack attention.smelt norm.smelt -o model.smelt");
  verb->callback([options, &context] { context.finish(pack(*options)); });
}

}  // namespace smelt::cli
