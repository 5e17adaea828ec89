// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt selftest: compiles the kernels of the self-test and runs them (tools/selftest/selftest.hpp).
#include "selftest.hpp"

#include "smelt/base/files.hpp"
#include "smelt/service/session.hpp"

#include "selftest_kernels.hpp"
#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace smelt::cli {
namespace {

struct SelftestOptions {
  std::string package;
  std::string emit;
};

/// Metallibs for a wide range of systems, CPU code for every processor: one file tests all machines.
Result<Bytes> build_kernels() {
  service::Request request;
  request.sources = {{"kernels.metal", as_bytes(kSelftestKernels)}};
  request.name = "selftest";
  for (const char* name : {"macos13", "macos14", "macos15", "macos26"}) {
    SMELT_TRY(request.options.targets.emplace_back(), aot::parse_target(name));
  }
  for (size_t i = 0; i < kCpuLevels; ++i) request.levels.push_back(static_cast<CpuLevel>(i));
  return service::build_package(request, 0, {});
}

Result<void> selftest(const SelftestOptions& options) {
  Bytes package;
  if (options.package.empty()) {
    SMELT_TRY(package, build_kernels());
  } else {
    SMELT_TRY(package, read_file(options.package));
  }
  if (!options.emit.empty()) return write_file(options.emit, package);

  return selftest::run(package);
}

}  // namespace

void add_selftest(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("selftest", "Run a fixed set of kernels on this machine and compare the results");
  auto options = std::make_shared<SelftestOptions>();
  verb->add_option("--package", options->package, "Use this package instead of compiling the kernels here");
  verb->add_option("--emit", options->emit, "Only write the package, to test it on another machine");
  verb->callback([options, &context] { context.finish(selftest(*options)); });
}

}  // namespace smelt::cli
