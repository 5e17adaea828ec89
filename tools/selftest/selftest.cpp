// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "selftest.hpp"

#include "smelt/loader/encoder.hpp"
#include "smelt/smelt.h"

#include "cases.hpp"

#include <algorithm>
#include <memory>

namespace smelt::selftest {
namespace {

using namespace loader;

/// The result buffer after one dispatch.
Result<Bytes> run_case(const LibraryRef& library, const Case& one) {
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

Cell judge(const LibraryRef& library, const Case& one) {
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

}  // namespace

Result<void> run(ByteView package) {
  const Result<LibraryRef> cpu = load_on(DeviceKind::cpu, package), metal = load_on(DeviceKind::metal, package);
  fmt::print("smelt {} selftest\n", smelt_version());
  print_device("cpu", cpu);
  print_device("metal", metal);
  fmt::print("\n| kernel | cpu | metal | what it tests |\n|---|---|---|---|\n");
  size_t wrong = 0;
  std::vector<std::string> errors;
  for (const Case& one : cases()) {
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
  if (!metal) fmt::print("The Metal device was not tested; that needs a Mac.\n");
  if (wrong > 0) return fail(Errc::pipeline_failed, "{} of the results are wrong or missing", wrong);
  if (!cpu && !metal) return fail(Errc::device_unavailable, "there is no device to test");
  return {};
}

}  // namespace smelt::selftest
