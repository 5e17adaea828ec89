// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hostile AIR through the allow-list and code generation: refused, or code in which the last look
// (allow_list/machine_code.hpp) finds nothing. A finding is machine code that reaches outside, or a process that ends.
#include "smelt/aot/cpu.hpp"
#include "smelt/aot/verify.hpp"

#include "mutate.hpp"

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace smelt;

namespace {

struct Counts {
  uint64_t made = 0, invalid = 0, refused = 0, compiled = 0, not_compiled = 0;
};

/// What is wrong with how the module ended; empty: nothing.
std::string judge(const std::string& bitcode, Counts& counts) {
  const aot::AirModuleView view{"k", as_bytes(bitcode)};
  bool foreign = false;
  for (const aot::Finding& finding : aot::verify_module(as_bytes(bitcode)))
    foreign |= finding.check == aot::Check::foreign;
  aot::CpuOptions options;
  options.verify_ir = true;  // which also asks for the last look
  options.checked = counts.made % 3 == 0;
  const auto compiled = aot::compile_cpu(std::span(&view, 1), options);
  if (!compiled) return "no answer: " + compiled.error().message;
  if (!compiled->kernels.empty()) {
    ++counts.compiled;
    return foreign ? "verify calls it foreign, and it became code" : "";
  }
  const std::string& reason = compiled->missing.at(0).reason;
  if (reason.find("machine code at") != std::string::npos) return reason;
  ++(reason.find("nothing is compiled from this module") != std::string::npos ? counts.refused : counts.not_compiled);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 10;
  uint64_t seed = 1;
  uint64_t only = 0;
  std::string keep = "findings";
  CLI::App app("Compiles hostile AIR and looks at what comes out");
  app.add_option("--seconds", seconds, "How long");
  app.add_option("--seed", seed, "Number of the first module");
  app.add_option("--only", only, "This module alone, shown");
  app.add_option("--keep", keep, "Folder for modules that were findings");
  CLI11_PARSE(app, argc, argv);

  Counts counts;
  unsigned findings = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::filesystem::create_directories(keep);
  for (uint64_t number = only != 0 ? only : seed * 1'000'000; std::chrono::steady_clock::now() < end; ++number) {
    ++counts.made;
    // Written before it is tried: a process that ends leaves the number behind.
    std::ofstream(std::filesystem::path(keep) / "current") << number << "\n";
    llvm::LLVMContext context;
    std::string story;
    const auto module = test::hostile_module(number, context, story);
    if (only != 0 && module) {
      llvm::outs() << *module;
      llvm::outs().flush();
    }
    if (!module) {
      ++counts.invalid;
      continue;
    }
    std::string bitcode;
    llvm::raw_string_ostream stream(bitcode);
    llvm::WriteBitcodeToFile(*module, stream);
    const std::string problem = judge(stream.str(), counts);
    if (!problem.empty()) {
      ++findings;
      fmt::print("module {} ({}): {}\n", number, story, problem);
      std::ofstream(std::filesystem::path(keep) / fmt::format("{}.bc", number), std::ios::binary) << bitcode;
    }
    if (only != 0) break;
  }
  fmt::print(
      "{} modules: {} not valid IR, {} refused by the allow-list, {} not compiled for other reasons, {} compiled; {} "
      "findings\n",
      counts.made, counts.invalid, counts.refused, counts.not_compiled, counts.compiled, findings);
  return findings == 0 && counts.refused > 0 && counts.compiled > 0 ? 0 : 1;
}
