// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Triton's IR to a Metal library, kernel by kernel, and where the time goes:
//
//   bench_triton_ir [--cpu] [ROUNDS=9] [FOLDER OR FILE.llir...]
//
// Inputs: the files named, else those of tests/aot/ir/amdgcn and, if there, of tests/data/triton-3.6.0.
// Stages:
//   read       text to a verified LLVM module           dialect   AMD's operations to kernel IR
//   legalise   kernel IR to AIR for macos14             write     typed bitcode, and the container round it
//   cpu        (--cpu) finished AIR to machine code of this processor, once a kernel: it takes far longer
// Medians of ROUNDS; the total is one compile() call, whose stages besides these (a copy of the module between reading
// and legalising, reflection) are "other". No rival: nobody else takes this input.
#include "smelt/aot/compile.hpp"
#include "smelt/aot/cpu.hpp"
#include "smelt/base/files.hpp"

#include "bench.hpp"
#include "bitcode/writer.hpp"
#include "ir/dialect.hpp"
#include "ir_reader/parse.hpp"
#include "legalise/legalise.hpp"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <algorithm>
#include <filesystem>

using namespace smelt;
namespace fs = std::filesystem;

namespace {

struct Times {
  std::vector<double> read, dialect, legalise, write, total;
};

struct Row {
  std::string name;
  size_t bytes = 0;
  double read = 0, dialect = 0, legalise = 0, write = 0, total = 0, cpu = 0;
};

std::string text_of(const fs::path& file) {
  const auto bytes = read_file(file.string());
  return bytes ? std::string(as_text(*bytes)) : std::string();
}

/// One round of the stages, each on what the one before made.
Result<void> run_stages(const std::string& text, const aot::CompileOptions& options, uint32_t threads, Times& times) {
  const aot::Target& target = options.targets[0];
  double start = bench::now();
  const auto lap = [&](std::vector<double>& into) {
    const double end = bench::now();
    into.push_back(end - start);
    start = bench::now();
  };
  SMELT_TRY(aot::KernelModule module, aot::input::parse_module(as_bytes(text), "kernel"));
  lap(times.read);
  SMELT_TRY_VOID(aot::input::read_amdgcn(module, {"kernel", text}, {.threads_per_threadgroup = threads}));
  lap(times.dialect);
  aot::air::LegaliseOptions legalising;
  legalising.threads_per_threadgroup = threads;
  legalising.threadgroup_memory = 32768;
  SMELT_TRY(const auto modules, aot::air::legalise(std::move(module), target, legalising));
  lap(times.legalise);
  SMELT_TRY(const Bytes bitcode,
            aot::bitcode::write_bitcode(*modules.at(0).module, {.air = target.air, .wrap = false}));
  bench::keep(bitcode.size());
  lap(times.write);
  return {};
}

Result<Row> measure(const fs::path& file, unsigned rounds, bool cpu) {
  const std::string text = text_of(file);
  fs::path json = file;
  aot::CompileOptions options;
  options.metadata_json = text_of(json.replace_extension(".json"));
  // A lock needs Metal 3.2's fences.
  options.targets = {aot::parse_target(file.stem() == "spin_count" ? "macos15" : "macos14").value()};
  const std::vector<aot::Source> sources = {{file.string(), as_bytes(text)}};
  Times times;
  Row row{.name = file.parent_path().filename().string().substr(4) + "/" + file.stem().string()};
  for (unsigned round = 0; round < rounds; ++round) {
    const double start = bench::now();
    SMELT_TRY(const aot::Compiled compiled, aot::compile(sources, options));
    times.total.push_back(bench::now() - start);
    row.bytes = compiled.targets[0].metallib.size();
    const aot::CompiledFunction& function = compiled.targets[0].functions[0];
    SMELT_TRY_VOID(run_stages(text, options, function.info.max_threads, times));
    if (!cpu || round > 0) continue;
    const aot::AirModuleView view{function.info.name, function.bitcode};
    aot::CpuOptions with;
    SMELT_TRY(with.level, aot::host_cpu_level());
    row.cpu = bench::timed([&] { bench::keep(aot::compile_cpu({&view, 1}, with).has_value()); });
  }
  row.read = bench::median(times.read);
  row.dialect = bench::median(times.dialect);
  row.legalise = bench::median(times.legalise);
  row.write = bench::median(times.write);
  row.total = bench::median(times.total);
  return row;
}

std::vector<fs::path> inputs(const std::vector<std::string>& named) {
  std::vector<fs::path> roots(named.begin(), named.end());
  if (roots.empty()) {
    const fs::path source = SMELT_SOURCE_DIR;
    roots = {source / "tests/aot/ir/amdgcn", source / "tests/data/triton-3.6.0"};
  }
  std::vector<fs::path> files;
  for (const fs::path& root : roots) {
    if (fs::is_regular_file(root)) files.push_back(root);
    if (!fs::is_directory(root)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root))
      if (entry.path().extension() == ".llir") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void print_row(const Row& row, bool cpu) {
  const double other = row.total - row.read - row.dialect - row.legalise - row.write;
  const auto part = [&](double value) { return 100 * value / row.total; };
  fmt::print("{:26} {:8.2f} ms  {:5.1f} {:7.1f} {:8.1f} {:5.1f} {:5.1f} %  {:7} B", row.name, row.total * 1e3,
             part(row.read), part(row.dialect), part(row.legalise), part(row.write), part(other), row.bytes);
  if (cpu) fmt::print("  {:9.1f} ms", row.cpu * 1e3);
  fmt::print("\n");
}

}  // namespace

int main(int count, char** words) {
  unsigned rounds = 9;
  bool cpu = false;
  std::vector<std::string> named;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--cpu")
      cpu = true;
    else if (word.find_first_not_of("0123456789") == std::string::npos)
      rounds = static_cast<unsigned>(std::max(1, std::stoi(word)));
    else
      named.push_back(word);
  }
  fmt::print("{:26} {:>11}  {:>5} {:>7} {:>8} {:>5} {:>5}    {:>7}  {}\n", "kernel", "IR->metallib", "read", "dialect",
             "legalise", "write", "other", "size", cpu ? "cpu code" : "");
  Row sum{.name = "all"};
  std::vector<double> totals;
  for (const fs::path& file : inputs(named)) {
    const auto row = measure(file, rounds, cpu);
    if (!row) {
      fmt::print("{}: {}\n", file.filename().string(), row.error().message);
      return 1;
    }
    print_row(*row, cpu);
    totals.push_back(row->total);
    sum.bytes += row->bytes;
    sum.read += row->read;
    sum.dialect += row->dialect;
    sum.legalise += row->legalise;
    sum.write += row->write;
    sum.total += row->total;
    sum.cpu += row->cpu;
  }
  if (totals.empty()) return 1;
  print_row(sum, cpu);
  fmt::print("a kernel: median {:.2f} ms, 90th percentile {:.2f} ms, of {}\n", bench::median(totals) * 1e3,
             bench::percentile(totals, 0.9) * 1e3, totals.size());
  return 0;
}
