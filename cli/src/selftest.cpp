// smelt selftest: does this machine run our kernels right? Runs a fixed set on the CPU device and, on a Mac, on the
// Metal device; compares both with plain C++ and prints a table to paste into an issue. This is the test of the Metal
// device, which cannot be run where smelt is developed.
#include "smelt/base/files.hpp"
#include "smelt/loader/encoder.hpp"
#include "smelt/service/session.hpp"

#include "selftest_cases.hpp"
#include "selftest_kernels.hpp"
#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace smelt::cli {
namespace {

using namespace loader;

struct Options {
  std::string package;
  std::string emit;
};

/// Metallibs for a wide range of systems, CPU code for every processor: one file tests all machines.
Result<Bytes> build_kernels() {
  service::Request request;
  request.sources = {{"selftest", as_bytes(kSelftestKernels)}};
  request.name = "selftest";
  for (const char* name : {"macos13", "macos14", "macos15", "macos26"}) {
    SMELT_TRY(request.options.targets.emplace_back(), aot::parse_target(name));
  }
  request.levels = {aot::CpuLevel::x86_64_v3, aot::CpuLevel::x86_64_v4, aot::CpuLevel::aarch64};
  return service::build_package(request, 0, {});
}

/// The result buffer after one dispatch.
Result<Bytes> run_case(const LibraryRef& library, const SelftestCase& one) {
  const DeviceRef& device = library->device();
  SMELT_TRY(const FunctionRef function, library->function(one.kernel));
  SMELT_TRY(const PipelineRef pipeline, function->pipeline());
  SMELT_TRY(const std::unique_ptr<Encoder> encoder, Encoder::create(device));
  SMELT_TRY_VOID(encoder->set_pipeline(pipeline));
  BufferRef result;
  for (uint32_t i = 0; i < one.buffers.size(); ++i) {
    SMELT_TRY(const BufferRef buffer, device->make_buffer(one.buffers[i].size()));
    std::copy(one.buffers[i].begin(), one.buffers[i].end(), buffer->contents().begin());
    SMELT_TRY_VOID(encoder->set_buffer(i, buffer));
    if (i == one.result) result = buffer;
  }
  SMELT_TRY_VOID(encoder->dispatch_threads(one.threads, one.group, one.rank));
  SMELT_TRY_VOID(encoder->wait());
  const auto contents = result->contents().first(one.expected.size());
  return Bytes(contents.begin(), contents.end());
}

/// One device's answer to one case, as a cell of the table.
struct Cell {
  std::string text = "-";
  bool good = true;
  std::string error;
};

Cell judge(const LibraryRef& library, const SelftestCase& one) {
  const auto found = run_case(library, one);
  if (!found) return {"error", false, found.error().message};
  const double apart = difference(one, *found, one.expected);
  const bool good = apart <= one.tolerance;
  if (apart == 0) return {"equal", true, {}};
  return {fmt::format("{} ({:.1e})", good ? "ok" : "WRONG", apart), good, {}};
}

Result<LibraryRef> load_on(DeviceKind kind, ByteView package) {
  SMELT_TRY(const DeviceRef device, Device::open(kind));
  return Library::load(device, package);
}

void print_device(std::string_view kind, const Result<LibraryRef>& library) {
  if (library)
    fmt::print("{}: {}, slice {}\n", kind, (*library)->device()->name(), (*library)->target().name);
  else
    fmt::print("{}: not run: {}\n", kind, library.error().message);
}

Result<void> selftest(const Options& options) {
  Bytes package;
  if (options.package.empty()) {
    SMELT_TRY(package, build_kernels());
  } else {
    SMELT_TRY(package, read_file(options.package));
  }
  if (!options.emit.empty()) return write_file(options.emit, package);

  const Result<LibraryRef> cpu = load_on(DeviceKind::cpu, package), metal = load_on(DeviceKind::metal, package);
  fmt::print("smelt {} selftest\n", SMELT_VERSION);
  print_device("cpu", cpu);
  print_device("metal", metal);
  fmt::print("\n| kernel | cpu | metal | what it tries |\n|---|---|---|---|\n");
  size_t wrong = 0;
  std::vector<std::string> errors;
  for (const SelftestCase& one : selftest_cases()) {
    const Cell on_cpu = cpu ? judge(*cpu, one) : Cell{}, on_metal = metal ? judge(*metal, one) : Cell{};
    fmt::print("| {} | {} | {} | {} |\n", one.kernel, on_cpu.text, on_metal.text, one.about);
    for (const Cell* cell : {&on_cpu, &on_metal}) {
      wrong += cell->good ? 0 : 1;
      if (!cell->error.empty()) errors.push_back(fmt::format("{}: {}", one.kernel, cell->error));
    }
  }
  fmt::print(
      "\nCells: \"equal\" the same bits as plain C++, \"ok\" within the tolerance (largest difference relative to "
      "the largest value), \"-\" not run.\n");
  for (const std::string& error : errors) fmt::print("{}\n", error);
  if (!metal) fmt::print("The Metal device was not tried here; that needs a Mac.\n");
  if (wrong > 0) return fail(Errc::pipeline_failed, "{} of the results are wrong or missing", wrong);
  if (!cpu && !metal) return fail(Errc::device_unavailable, "there is no device to test");
  return {};
}

}  // namespace

void add_selftest(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("selftest", "Run a fixed set of kernels on this machine and compare the results");
  auto options = std::make_shared<Options>();
  verb->add_option("--package", options->package, "Use this package instead of compiling the kernels here");
  verb->add_option("--emit", options->emit, "Only write the package, to be tested on another machine");
  verb->callback([options, &context] { context.finish(selftest(*options)); });
}

}  // namespace smelt::cli
