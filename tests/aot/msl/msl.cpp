// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace smelt::test {

aot::CompileOptions msl_options() {
  aot::CompileOptions options;
  options.targets = {aot::default_target()};
  return options;
}

Result<aot::Compiled> compile_msl(std::string_view text, const aot::CompileOptions& options) {
  const aot::Source source{"test.metal", as_bytes(text)};
  return aot::compile(std::span(&source, 1), options);
}

std::string msl_error(std::string_view text, const aot::CompileOptions& options) {
  const auto compiled = compile_msl(text, options);
  CHECK_MESSAGE(!compiled, "this should not compile: " << std::string(text));
  return compiled ? std::string() : compiled.error().message;
}

Msl::Msl(std::string_view text, const aot::CompileOptions& options, aot::CpuOptions cpu_options) {
  auto compiled = compile_msl(text, options);
  if (!compiled) throw std::runtime_error(compiled.error().message);
  compiled_ = std::move(*compiled);
  std::vector<aot::AirModuleView> modules;
  for (const aot::CompiledFunction& function : compiled_.targets[0].functions)
    modules.push_back({function.info.name, function.bitcode});
  cpu_options.verify_ir = true;
  const auto cpu = aot::compile_cpu(modules, cpu_options);
  if (!cpu) throw std::runtime_error(cpu.error().message);
  for (const aot::CpuMissing& missing : cpu->missing) throw std::runtime_error(missing.name + ": " + missing.reason);
  slice_ = std::make_unique<LoadedSlice>(cpu->slice);
}

const aot::KernelInfo& Msl::info(const std::string& kernel) const {
  for (const aot::CompiledFunction& function : compiled_.targets[0].functions)
    if (function.info.name == kernel) return function.info;
  throw std::runtime_error("no kernel " + kernel);
}

void Msl::run(const std::string& kernel, const Launch& launch) const {
  slice_->run(kernel, launch);
}

}  // namespace smelt::test
