// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal source to AIR, and where the time goes:
//
//   bench_metal_stages [ROUNDS=3] [--target ios18] [-D NAME[=VALUE]]... [FILE.metal]
//
// FILE: else ggml's of llama.rn 0.12.9 (scripts/fetch-corpus). Stages, each over all kernels:
//   translate   source to Clang's tree and its unoptimised code, whole source at once; precompiled headers are made
//   before cut         each kernel with what it reaches; helpers are filled and simplified here, once for all kernels
//   simplify    a kernel is one function, and is optimised
//   legalise    to AIR of the target            write   typed bitcode
// Processor time of one thread's work, least of ROUNDS, fast math. The rival is what Clang does with a language of its
// own: the same tree and code, LLVM's -O2 once for all kernels, and LLVM's bitcode.
#include "smelt/aot/math_mode.hpp"
#include "smelt/aot/target.hpp"
#include "smelt/base/files.hpp"

#include "bench.hpp"
#include "bitcode/writer.hpp"
#include "legalise/legalise.hpp"
#include "msl/frontend.hpp"
#include "msl/kernel/entry_points.hpp"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Passes/PassBuilder.h"

#include <array>
#include <filesystem>
#include <numeric>

using namespace smelt;

namespace {

constexpr const char* kStages[] = {"translate", "cut", "simplify", "legalise", "write"};
using Times = std::array<double, std::size(kStages)>;

struct Input {
  std::string path;
  Bytes text;
  aot::Target target;
  aot::msl::MslOptions options;
};

struct Made {
  Times times{};
  size_t kernels = 0, bytes = 0;
};

Result<Made> run_stages(const Input& input) {
  Made made;
  double start = bench::cpu_ms();
  const auto lap = [&](size_t stage) {
    const double end = bench::cpu_ms();
    made.times[stage] += end - start;
    start = end;
  };
  SMELT_TRY(const auto module, aot::msl::translate(as_text(input.text), input.path, input.options));
  lap(0);
  made.kernels = module->kernels.size();
  for (size_t i = 0; i < made.kernels; ++i) {
    SMELT_TRY(const aot::msl::MslKernel* const kernel, module->kernel(i));
    lap(1);
    SMELT_TRY(aot::KernelModule one, aot::msl::make_kernel(*kernel));
    lap(2);
    SMELT_TRY(const auto legal, aot::air::legalise(std::move(one), input.target, {}));
    lap(3);
    SMELT_TRY(const Bytes bitcode,
              aot::bitcode::write_bitcode(*legal.at(0).module, {.air = input.target.air, .wrap = false}));
    made.bytes += bitcode.size();
    lap(4);
  }
  return made;
}

/// Milliseconds of LLVM's -O2 on all kernels as one module, and of writing it.
Result<double> whole_module(const aot::msl::MslModule& source) {
  llvm::LLVMContext context;
  context.setDiagnosticHandlerCallBack([](const llvm::DiagnosticInfo*, void*) {}, nullptr);
  llvm::Module whole("whole", context);
  llvm::Linker linker(whole);
  for (size_t i = 0; i < source.kernels.size(); ++i) {
    SMELT_TRY(const aot::msl::MslKernel* const kernel, source.kernel(i));
    const llvm::StringRef bytes(reinterpret_cast<const char*>(kernel->bitcode.data()), kernel->bitcode.size());
    auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bytes, "kernel"), context);
    if (!module) return fail(Errc::compile_failed, "cannot read kernel {}", i);
    // Of one source, so the same name is the same thing.
    for (llvm::GlobalObject& object : (*module)->global_objects())
      if (object.hasLocalLinkage()) object.setLinkage(llvm::GlobalValue::LinkOnceODRLinkage);
    if (linker.linkInModule(std::move(*module), llvm::Linker::OverrideFromSrc))
      return fail(Errc::compile_failed, "cannot link kernel {}", i);
  }
  for (llvm::GlobalObject& object : whole.global_objects())
    if (object.hasLinkOnceODRLinkage()) object.setLinkage(llvm::GlobalValue::InternalLinkage);
  const double start = bench::cpu_ms();
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(whole, modules);
  llvm::SmallVector<char> written;
  llvm::raw_svector_ostream stream(written);
  llvm::WriteBitcodeToFile(whole, stream);
  return bench::cpu_ms() - start;
}

Result<Input> read_input(int count, char** words, unsigned& rounds) {
  Input input;
  input.path = SMELT_CORPUS "/llama.rn-0.12.9/cpp/ggml-metal/ggml-metal.metal";
  input.options.definitions = {"GGML_METAL_HAS_BF16=1"};
  std::string target = "ios18";
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--target" && i + 1 < count)
      target = words[++i];
    else if (word == "-D" && i + 1 < count)
      input.options.definitions.emplace_back(words[++i]);
    else if (word.find_first_not_of("0123456789") == std::string::npos)
      rounds = static_cast<unsigned>(std::max(1, std::stoi(word)));
    else
      input.path = word;
  }
  SMELT_TRY(input.target, aot::parse_target(target));
  SMELT_TRY(input.text, read_file(input.path));
  input.options.language = input.target.language;
  input.options.platform = input.target.platform;
  input.options.math = aot::kFastMath;
  input.options.quote_folders = {std::filesystem::path(input.path).parent_path().parent_path().string()};
  return input;
}

Result<void> run(int count, char** words) {
  unsigned rounds = 3;
  SMELT_TRY(const Input input, read_input(count, words, rounds));
  SMELT_TRY(const auto headers,
            aot::msl::translate("kernel void k() {}", "k.metal", input.options));  // precompiles them
  SMELT_TRY(const auto source, aot::msl::translate(as_text(input.text), input.path, input.options));
  double rest = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    SMELT_TRY(const double took, whole_module(*source));
    rest = round == 0 ? took : std::min(rest, took);
  }
  Made best;
  for (unsigned round = 0; round < rounds; ++round) {
    SMELT_TRY(const Made made, run_stages(input));
    const auto sum = [](const Times& times) { return std::accumulate(times.begin(), times.end(), 0.0); };
    if (round == 0 || sum(made.times) < sum(best.times)) best = made;
  }
  const double all = std::accumulate(best.times.begin(), best.times.end(), 0.0);
  fmt::print("{} kernels, {} bytes of AIR\n", best.kernels, best.bytes);
  for (size_t i = 0; i < best.times.size(); ++i)
    fmt::print("{:10} {:9.1f} ms  {:5.1f} %\n", kStages[i], best.times[i], 100 * best.times[i] / all);
  fmt::print("{:10} {:9.1f} ms, {:.2f} ms a kernel\n", "all", all, all / static_cast<double>(best.kernels));
  const double rival = best.times[0] + rest;
  fmt::print("translate, and LLVM's -O2 of all kernels at once: {:.1f} ms; {:.2f} of it\n", rival, all / rival);
  bench::record("air.ggml", "ms", all, rival);
  return {};
}

}  // namespace

int main(int count, char** words) {
  if (const auto done = run(count, words); !done) {
    fmt::print("{}\n", done.error().message);
    return 1;
  }
  return 0;
}
