// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every compute kernel of Apple-built ggml (llama.rn 0.8.3) should become CPU code; those that do not are listed with
// the reason. All of them takes minutes: SMELT_CPU_STEP=1 does it (SMELT_CPU_METHOD=regions|lanes|automatic,
// SMELT_CPU_LEVEL=x86-64-v3|...), otherwise every sixteenth stands for the rest. Code that is unusually large for its
// AIR is a finding.
#include "smelt/metallib/reader.hpp"

#include "files.hpp"
#include "ir_reader/parse.hpp"
#include "launch.hpp"
#include "skips.hpp"

#include "llvm/IR/Module.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <map>

namespace smelt::test {
namespace {

std::string environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

/// Three layouts of a sort or of rows of float4, each with masks: much code, seldom run by many.
bool may_be_large(std::string_view name) {
  return name.starts_with("kernel_argsort") || (name.starts_with("kernel_soft_max") && name.ends_with("_4"));
}

/// The kernels with more code than the way to machine code should make of their instructions: 24 KB for what each has,
/// and 250 bytes for an instruction.
std::vector<std::string> unusually_large(const std::vector<aot::AirModuleView>& modules,
                                         const schema::CpuSlice& slice) {
  std::map<std::string_view, size_t> instructions;
  for (const aot::AirModuleView& module : modules)
    instructions[module.name] =
        aot::input::parse_module(module.bitcode, module.name).value().module->getInstructionCount();
  std::vector<std::string> found;
  for (const schema::CpuKernel& kernel : slice.kernels) {
    const size_t air = instructions.at(kernel.name);
    if (kernel.code_bytes > 24'000 + 250 * air && !may_be_large(kernel.name))
      found.push_back(fmt::format("{}: {} bytes for {} instructions of AIR", kernel.name, kernel.code_bytes, air));
  }
  return found;
}

TEST_CASE("kernels of ggml become CPU code") {
  const auto folder = corpus("llama.rn");
  if (!folder) {
    smelt::test::skipped("llama.rn is not in the corpus (scripts/fetch-corpus)");
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
  if (method == "automatic" && options.level == aot::CpuLevel::x86_64_v3)
    for (const std::string& finding : unusually_large(modules, slice)) FAIL_CHECK(finding);
}

}  // namespace
}  // namespace smelt::test
