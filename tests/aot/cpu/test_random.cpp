// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels against the reference that runs their source in lock step (reference/).
#include "launch.hpp"
#include "reference/program.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace smelt::test {
namespace {

struct Shape {
  Size3 grid, group;
};

reference::Data make_data(const Size3& grid, uint32_t seed) {
  reference::Data data;
  for (uint32_t i = 0; i < reference::kParameters; ++i) data.parameters.push_back((seed * 7 + i * 5) % 11);
  for (uint32_t i = 0; i < reference::kInputWords; ++i) data.input.push_back((i + seed) * 2654435761u);
  data.output.assign(size_t{grid[0]} * grid[1] * grid[2], 0xabababab);
  data.bins.assign(reference::kBins, 0);
  return data;
}

void compare(uint32_t seed, const reference::Features& features, const std::vector<aot::CpuMethod>& methods,
             std::vector<std::string>& refused) {
  const reference::Program program = reference::generate(seed, features);
  const std::string text = reference::emit(program, "random");
  CAPTURE(seed);
  const Bytes bitcode = assemble(text);
  for (const aot::CpuMethod method : methods) {
    aot::CpuOptions options;
    options.level = runnable_levels().at(seed % runnable_levels().size());
    options.method = method;
    options.verify_ir = true;
    options.checked = method == aot::CpuMethod::automatic;
    CAPTURE(static_cast<int>(method));
    const aot::AirModuleView view{"random", bitcode};
    const auto compiled = aot::compile_cpu(std::span(&view, 1), options);
    REQUIRE(compiled.has_value());
    if (!compiled->missing.empty()) {
      REQUIRE_MESSAGE(method == aot::CpuMethod::lanes, compiled->missing.front().reason);
      refused.push_back(compiled->missing.front().reason);
      continue;
    }
    const LoadedSlice slice(compiled->slice);
    for (const Shape& shape : {Shape{{77, 1, 1}, {77, 1, 1}}, Shape{{100, 1, 1}, {32, 1, 1}},
                               Shape{{7, 5, 3}, {3, 4, 2}}, Shape{{20, 9, 1}, {16, 4, 1}}}) {
      reference::Data want = make_data(shape.grid, seed);
      reference::Data got = want;
      reference::evaluate(program, shape.grid, shape.group, want);
      smelt_cpu_fault fault{};
      Launch launch;
      launch.grid = shape.grid;
      launch.group = shape.group;
      launch.fault = &fault;
      launch.bind(0, got.parameters).bind(1, got.input).bind(2, got.output).bind(3, got.bins);
      slice.run("random", launch);
      CAPTURE(shape.grid);
      CAPTURE(shape.group);
      CHECK(fault.claimed == 0);
      CHECK(got.bins == want.bins);
      size_t wrong = got.bins != want.bins ? 1 : 0;
      for (size_t i = 0; i < want.output.size(); ++i) wrong += got.output[i] != want.output[i];
      CHECK(wrong == 0);
      if (wrong != 0 && std::getenv("SMELT_SHOW_KERNEL") != nullptr) MESSAGE(text);
    }
  }
}

/// SMELT_RANDOM_FIRST and SMELT_RANDOM_COUNT choose other seeds than the few that every test run takes.
void sweep(const reference::Features& features, const std::vector<aot::CpuMethod>& methods) {
  const char* first = std::getenv("SMELT_RANDOM_FIRST");
  const char* count = std::getenv("SMELT_RANDOM_COUNT");
  const uint32_t from = first != nullptr ? static_cast<uint32_t>(std::atoi(first)) : 1;
  const uint32_t kernels = count != nullptr ? static_cast<uint32_t>(std::atoi(count)) : 6;
  std::vector<std::string> refused;
  for (uint32_t seed = from; seed < from + kernels; ++seed) compare(seed, features, methods, refused);
  for (const std::string& reason : refused) MESSAGE("lanes refused: ", reason);
}

constexpr aot::CpuMethod kRegions = aot::CpuMethod::regions;
constexpr aot::CpuMethod kLanes = aot::CpuMethod::lanes;
constexpr aot::CpuMethod kChecked = aot::CpuMethod::automatic;

TEST_CASE("random kernels without synchronisation") {
  sweep({.collectives = false, .barriers = false, .early_returns = true}, {kRegions, kLanes});
}
TEST_CASE("random kernels with barriers") {
  sweep({.collectives = false, .barriers = true, .early_returns = false}, {kRegions, kLanes, kChecked});
}
TEST_CASE("random kernels with barriers that some threads never reach") {
  sweep({.collectives = false, .barriers = true, .early_returns = true}, {kRegions, kLanes});
}
TEST_CASE("random kernels with simdgroup operations and barriers") {
  sweep({.collectives = true, .barriers = true, .early_returns = true}, {kRegions, kLanes, kChecked});
}

}  // namespace
}  // namespace smelt::test
