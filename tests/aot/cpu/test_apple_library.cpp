// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every compute kernel of Apple-built ggml (llama.rn 0.8.3) should become CPU code; those that do not are listed with
// the reason. All of them takes minutes: SMELT_CPU_STEP=1 does it (SMELT_CPU_METHOD=regions|lanes|automatic,
// SMELT_CPU_LEVEL=x86-64-v3|...), otherwise every sixteenth stands for the rest.
#include "smelt/metallib/reader.hpp"

#include "files.hpp"
#include "launch.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <map>

namespace smelt::test {
namespace {

std::string environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

TEST_CASE("kernels of ggml become CPU code") {
  const auto folder = corpus("llama.rn");
  if (!folder) {
    MESSAGE("SKIPPED: llama.rn is not in the corpus (scripts/fetch-corpus)");
    return;
  }
  const auto files = files_below(*folder, ".metallib");
  REQUIRE(!files.empty());
  const Bytes image = must_read(files.front());
  const metallib::Library library = metallib::read(image).value();
  const size_t step = std::stoul(environment("SMELT_CPU_STEP", "16"));
  std::vector<aot::AirModuleView> modules;
  for (size_t i = std::stoul(environment("SMELT_CPU_FIRST", "0")); i < library.functions.size(); i += step)
    modules.push_back({library.functions[i].name, library.module_of(library.functions[i]).blob});

  aot::CpuOptions options;
  options.level = aot::parse_cpu_level(environment("SMELT_CPU_LEVEL", "x86-64-v3")).value();
  options.threads = 2;
  const std::string method = environment("SMELT_CPU_METHOD", "automatic");
  options.method = method == "regions" ? aot::CpuMethod::regions
                   : method == "lanes" ? aot::CpuMethod::lanes
                                       : aot::CpuMethod::automatic;
  const auto start = std::chrono::steady_clock::now();
  const aot::CpuCompiled compiled = aot::compile_cpu(modules, options).value();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  std::map<std::string, size_t> methods;
  const schema::CpuSlice slice = schema::read_cpu_slice(compiled.slice).value();
  for (const schema::CpuKernel& kernel : slice.kernels) ++methods[kernel.method];
  for (const auto& [name, count] : methods) MESSAGE(count, " by ", name);
  for (const aot::CpuMissing& missing : compiled.missing) MESSAGE("missing ", missing.name, ": ", missing.reason);
  MESSAGE(compiled.kernels.size(), " of ", modules.size(), " kernels, ", compiled.slice.size(), " bytes, ",
          seconds.count(), " s");
  CHECK(compiled.kernels.size() * 100 >= modules.size() * 95);
}

}  // namespace
}  // namespace smelt::test
