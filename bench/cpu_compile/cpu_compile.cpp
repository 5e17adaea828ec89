// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What CPU code costs to make: processor time by phase and bytes of code, kernel by kernel, on one thread.
//
//   bench_cpu_compile [--level L=x86-64-v3] [--effort E=balanced] [--every N=16] [--all] [--made] [--source FOLDER]
//                     [--regions] [--passes] [NAME...]
//
// Of Apple-built ggml (llama.rn, scripts/fetch-corpus): the kernels named, else six large and common ones and every
// N-th; --all takes every one and prints the sums. Then kernels that are made here, unless names are given (--made:
// these alone): a small one, 20 each of precise::sin, log2 and sqrt, and 16 to 128 simdgroup multiplies in a row.
// --source: every kernel of the Metal source files in a folder instead.
// Processor time of the thread, since machines are shared. No rival: nobody else takes this input. --regions: by that
// method (cpu-code.md) instead of the one that each kernel goes by. --passes: what each of LLVM's passes took of all
// kernels together, at the end.
#include "smelt/aot/compile.hpp"
#include "smelt/base/files.hpp"
#include "smelt/metallib/reader.hpp"

#include "ir_reader/parse.hpp"
#include "kernels/compile_kernel.hpp"
#include "llvm_support/watch.hpp"

#include "llvm/IR/Module.h"
#include "llvm/IR/PassTimingInfo.h"
#include "llvm/Pass.h"
#include "llvm/Support/Timer.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>

using namespace smelt;
namespace fs = std::filesystem;

namespace {

struct Kernel {
  std::string name;
  Bytes bitcode;
};

struct Sums {
  size_t kernels = 0, missing = 0, bytes = 0;
  double seconds = 0, slowest = 0;
  std::string slowest_name;
  std::vector<double> each;
};

size_t instructions_of(const Kernel& kernel) {
  const auto parsed = aot::input::parse_module(kernel.bitcode, kernel.name);
  return parsed ? parsed->module->getInstructionCount() : 0;
}

void measure(const Kernel& kernel, const aot::CpuOptions& options, bool quiet, Sums& sums) {
  const aot::AirModuleView view{kernel.name, kernel.bitcode};
  const auto compiled = aot::cpu::compile_kernel(view, options);
  if (!compiled) {
    ++sums.missing;
    std::printf("%-50s missing: %s\n", kernel.name.c_str(), compiled.error().message.c_str());
    return;
  }
  const auto& spent = compiled->seconds;
  const double total = spent.work_item + spent.loops + spent.optimise + spent.generate;
  ++sums.kernels;
  sums.bytes += compiled->code.size();
  sums.seconds += total;
  sums.each.push_back(total);
  if (total > sums.slowest) {
    sums.slowest = total;
    sums.slowest_name = kernel.name;
  }
  if (quiet && total < 1.0) return;
  const size_t air = instructions_of(kernel);
  std::printf("%-50s %8.1f %8.1f %8.1f %8.1f %8.1f %9zu %6zu %7.1f  %s\n", kernel.name.c_str(), 1e3 * total,
              1e3 * spent.work_item, 1e3 * spent.loops, 1e3 * spent.optimise, 1e3 * spent.generate,
              compiled->code.size(), air, static_cast<double>(compiled->code.size()) / static_cast<double>(air),
              compiled->row.method.substr(0, 40).c_str());
  std::fflush(stdout);
}

void measure_all(const std::vector<Kernel>& kernels, const aot::CpuOptions& options, bool quiet) {
  Sums sums;
  for (const Kernel& kernel : kernels) measure(kernel, options, quiet, sums);
  std::sort(sums.each.begin(), sums.each.end());
  if (sums.kernels != 0)
    std::printf("%zu kernels (%zu missing): %.1f s, %.1f MB, median %.1f ms, slowest %.2f s (%s)\n", sums.kernels,
                sums.missing, sums.seconds, 1e-6 * static_cast<double>(sums.bytes), 1e3 * sums.each[sums.kernels / 2],
                sums.slowest, sums.slowest_name.c_str());
}

/// What tinygrad makes of unrolled tensor cores: `count` products that take turns with eight operands.
std::string multiplies(unsigned count) {
  std::string source = R"(#include <metal_stdlib>
using namespace metal;
half2 wmma(half2 a, half2 b, half2 c) {
  simdgroup_half8x8 A, B, C;
  A.thread_elements()[0] = a[0]; B.thread_elements()[0] = b[0]; C.thread_elements()[0] = c[0];
  A.thread_elements()[1] = a[1]; B.thread_elements()[1] = b[1]; C.thread_elements()[1] = c[1];
  simdgroup_multiply_accumulate(C, A, B, C);
  return half2(C.thread_elements()[0], C.thread_elements()[1]);
}
kernel void multiplies(device half2* x, device half2* y, device half* z, uint3 lid [[thread_position_in_threadgroup]]) {
  half2 a[4], b[4], t;
)";
  source += "  half c[" + std::to_string(2 * count) + "];\n";
  for (unsigned i = 0; i < 2 * count; ++i) source += "  c[" + std::to_string(i) + "] = 0.0h;\n";
  source += "  for (int r = 0; r < 8; r++) {\n    for (int i = 0; i < 4; i++) {\n";
  source += "      a[i] = x[lid.x + 32*(4*r+i)]; b[i] = y[lid.x + 32*(4*r+i)];\n    }\n";
  for (unsigned i = 0; i < count; ++i) {
    const std::string even = "c[" + std::to_string(2 * i) + "]";
    const std::string odd = "c[" + std::to_string(2 * i + 1) + "]";
    source += "    t = wmma(a[" + std::to_string(i % 4) + "], b[" + std::to_string(i / 4 % 4) + "], half2(" + even +
              ", " + odd + ")); " + even + " = t[0]; " + odd + " = t[1];\n";
  }
  source += "  }\n";
  for (unsigned i = 0; i < 2 * count; ++i)
    source += "  z[lid.x + " + std::to_string(32 * i) + "] = c[" + std::to_string(i) + "];\n";
  return source + "}\n";
}

std::string mathematics() {
  std::string source =
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void mathematics(device float* x, uint i [[thread_position_in_grid]]) {\n  float v = x[i];\n";
  for (unsigned n = 0; n < 20; ++n)
    source += "  v = precise::sin(v); v = v + precise::log2(v); v = precise::sqrt(v) + 0.5f;\n";
  return source + "  x[i] = v;\n}\n";
}

constexpr const char* kSmall =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "kernel void small(device float* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }\n";

std::vector<Kernel> made_here() {
  std::vector<std::pair<std::string, std::string>> sources{
      {"small", kSmall}, {"small again", kSmall}, {"20 sin, log2, sqrt", mathematics()}};
  for (const unsigned count : {16u, 32u, 64u, 128u})
    sources.emplace_back(std::to_string(count) + " simdgroup multiplies", multiplies(count));
  std::vector<Kernel> kernels;
  for (const auto& [name, text] : sources) {
    const aot::Source source{name, as_bytes(text)};
    const auto compiled = aot::compile(std::span(&source, 1));
    if (!compiled) {
      std::fprintf(stderr, "bench_cpu_compile: %s\n", compiled.error().message.c_str());
      continue;
    }
    kernels.push_back({name, compiled->targets.at(0).functions.at(0).bitcode});
  }
  return kernels;
}

/// Of every Metal source file in a folder, in the order of their names.
std::vector<Kernel> of_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".metal") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Kernel> kernels;
  for (const fs::path& file : files) {
    const auto text = read_file(file.string());
    const aot::Source source{file.string(), text ? ByteView(*text) : ByteView()};
    const auto compiled = aot::compile(std::span(&source, 1));
    if (!compiled) {
      std::fprintf(stderr, "bench_cpu_compile: %s\n", compiled.error().message.c_str());
      continue;
    }
    for (const aot::CompiledFunction& made : compiled->targets.at(0).functions)
      kernels.push_back({made.info.name, made.bitcode});
  }
  return kernels;
}

/// Of ggml. `named`, else the large ones and every `step`-th.
std::vector<Kernel> of_ggml(std::vector<std::string> named, size_t step) {
  const fs::path file = fs::path(SMELT_CORPUS) / "llama.rn/cpp/ggml-metal/ggml-llama.metallib";
  const auto image = read_file(file.string());
  if (!image) {
    std::fprintf(stderr, "bench_cpu_compile: %s\n", image.error().message.c_str());
    return {};
  }
  const auto library = metallib::read(*image);
  if (!library) {
    std::fprintf(stderr, "bench_cpu_compile: %s\n", library.error().message.c_str());
    return {};
  }
  const bool sample = named.empty();
  if (sample)
    named = {"kernel_rms_norm_f32",
             "kernel_mul_mm_q4_K_f32",
             "kernel_flash_attn_ext_f16_dk128_dv128",
             "kernel_flash_attn_ext_vec_q4_0_dk128_dv128",
             "kernel_soft_max_f32",
             "kernel_mul_mv_q4_0_f32"};
  std::vector<Kernel> kernels;
  const auto add = [&](const metallib::Function& function) {
    const ByteView bitcode = library->module_of(function).blob;
    kernels.push_back({std::string(function.name), Bytes(bitcode.begin(), bitcode.end())});
  };
  for (size_t i = 0; sample && step == 1 && i < library->functions.size(); ++i) add(library->functions[i]);
  if (step == 1 && sample) return kernels;
  for (const std::string& name : named)
    if (const auto* function = library->find(name))
      add(*function);
    else
      std::fprintf(stderr, "bench_cpu_compile: ggml has no %s\n", name.c_str());
  for (size_t i = 0; sample && i < library->functions.size(); i += step) add(library->functions[i]);
  return kernels;
}

/// LLVM's tables with the runs of one pass added up ("NAME #3" is the third), longest first.
void print_passes(llvm::TimePassesHandler& handler) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  handler.setOutStream(stream);
  handler.print();
  llvm::TimerGroup::printAll(stream);
  std::map<std::string, double> seconds;
  for (llvm::StringRef rest = text; !rest.empty();) {
    llvm::StringRef line;
    std::tie(line, rest) = rest.split('\n');
    // "1.2 ( 3.4%)" for the user's, the system's, both and the clock's time, of which those that are zero are left out.
    llvm::SmallVector<llvm::StringRef> columns;
    line.split(columns, "%)");
    double both = 0;
    if (columns.size() < 3 || columns[columns.size() - 3].split('(').first.trim().getAsDouble(both)) continue;
    std::string name = columns.back().split(" #").first.trim().str();
    if (name != "Total") seconds[name] += both;
  }
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [name, time] : seconds) sorted.emplace_back(time, name);
  std::sort(sorted.rbegin(), sorted.rend());
  std::printf("\nprocessor seconds of passes (analyses, and phases of instruction selection, again by themselves)\n");
  for (const auto& [time, name] : sorted)
    if (time >= 0.05) std::printf("%8.2f  %s\n", time, name.c_str());
}

int run(int count, char** arguments) {
  aot::CpuOptions options;
  size_t step = 16;
  bool made = false;
  std::string folder;
  std::optional<llvm::TimePassesHandler> passes;
  std::vector<std::string> names;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    if (word == "--level" && i + 1 < count) {
      const auto level = aot::parse_cpu_level(arguments[++i]);
      if (!level) return 2;
      options.level = *level;
    } else if (word == "--effort" && i + 1 < count) {
      const auto effort = aot::parse_cpu_effort(arguments[++i]);
      if (!effort) return 2;
      options.effort = *effort;
    } else if (word == "--source" && i + 1 < count) {
      folder = arguments[++i];
    } else if (word == "--every" && i + 1 < count) {
      step = std::max(1ul, std::strtoul(arguments[++i], nullptr, 10));
    } else if (word == "--all") {
      step = 1;
    } else if (word == "--regions") {
      options.method = aot::CpuMethod::regions;
    } else if (word == "--made") {
      made = true;
    } else if (word == "--passes") {
      llvm::TimePassesIsEnabled = true;  // of the code generator; the handler's are the middle end's
      passes.emplace(true).registerCallbacks(*aot::pass_callbacks());
    } else {
      names.emplace_back(word);
    }
  }
  std::printf("%-50s %8s %8s %8s %8s %8s %9s %6s %7s  %s\n", "processor milliseconds", "total", "item", "drive",
              "optimise", "generate", "bytes", "AIR", "per AIR", "method");
  if (!folder.empty()) measure_all(of_folder(folder), options, false);
  if (!made && folder.empty()) measure_all(of_ggml(names, step), options, step == 1 && names.empty());
  if (names.empty() && folder.empty()) {
    Sums sums;
    for (const Kernel& kernel : made_here()) measure(kernel, options, false, sums);
  }
  if (passes) print_passes(*passes);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  return run(count, arguments);
}
