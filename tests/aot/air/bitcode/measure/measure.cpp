// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long does the bitcode writer take beside LLVM's own parser? Over every Apple module at hand:
//
//   measure_air_writer [REPETITIONS] [--expand] [--write FOLDER] [FILE...]
//
// prints median, 90th percentile and sum of LLVM 19's parse and of our three steps, in microseconds, and our share.
// Each figure is the best of REPETITIONS (default 5) runs of one module. Given files, measures those instead.
#include "smelt/base/files.hpp"

#include "bitcode/writer.hpp"
#include "files.hpp"
#include "modules.hpp"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>

using namespace smelt;
using Clock = std::chrono::steady_clock;

namespace {

struct Times {
  double parse = 1e18, lower = 1e18, check = 1e18, emit = 1e18;
  uint32_t records = 0, views = 0;
  size_t bytes_in = 0, bytes_out = 0;
};

void row(const char* what, const std::vector<Times>& all, double Times::* field) {
  std::vector<double> values;
  for (const Times& one : all) values.push_back(one.*field);
  std::sort(values.begin(), values.end());
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  std::printf("%-8s median %8.1f us   p90 %8.1f us   sum %8.1f ms\n", what, values[values.size() / 2],
              values[values.size() * 9 / 10], sum / 1000);
}

bool measure(const test::AppleModule& input, int repetitions, const aot::bitcode::WriteOptions& options, Times& times,
             Bytes& out) {
  times.bytes_in = input.bitcode.size();
  for (int i = 0; i < repetitions; ++i) {
    llvm::LLVMContext context;
    const std::string_view text = as_text(input.bitcode);
    const auto start = Clock::now();
    auto module =
        llvm::parseBitcodeFile(llvm::MemoryBufferRef(llvm::StringRef(text.data(), text.size()), input.name), context);
    times.parse = std::min(times.parse, std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    if (!module) {
      std::fprintf(stderr, "%s: %s\n", input.name.c_str(), llvm::toString(module.takeError()).c_str());
      return false;
    }
    aot::bitcode::WriteStatistics statistics;
    auto bytes = aot::bitcode::write_bitcode(**module, options, &statistics);
    if (!bytes) {
      std::fprintf(stderr, "%s: %s\n", input.name.c_str(), bytes.error().message.c_str());
      return false;
    }
    times.lower = std::min(times.lower, statistics.lower_us);
    times.check = std::min(times.check, statistics.check_us);
    times.emit = std::min(times.emit, statistics.emit_us);
    times.records = statistics.records;
    times.views = statistics.views;
    times.bytes_out = bytes->size();
    out = std::move(*bytes);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  int repetitions = 5;
  aot::bitcode::WriteOptions options;
  options.wrap = false;
  options.expand_constants = false;
  std::filesystem::path folder;
  std::vector<test::AppleModule> inputs;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--write" && i + 1 < argc) {
      folder = argv[++i];
    } else if (argument == "--expand") {
      options.expand_constants = true;
    } else if (argument == "--debug") {
      options.keep_debug = true;
    } else if (argument == "--old") {
      options.air = {2, 5, 0};
    } else if (argument == "--reverse") {
      options.reverse_blocks = true;
    } else if (std::isdigit(argument[0])) {
      repetitions = std::max(1, std::atoi(argv[i]));
    } else {
      inputs.push_back({argument, test::must_read(argument)});
    }
  }
  if (inputs.empty()) inputs = test::apple_modules();
  std::vector<Times> all;
  for (const test::AppleModule& input : inputs) {
    Times times;
    Bytes bytes;
    if (!measure(input, repetitions, options, times, bytes)) continue;
    all.push_back(times);
    if (!folder.empty())
      (void)write_file(
          folder / (std::filesystem::path(input.name.substr(0, input.name.find(' '))).stem().string() + ".bc"), bytes);
  }
  if (all.empty()) return 1;
  double parse = 0, ours = 0;
  size_t in = 0, out = 0, records = 0, views = 0;
  for (const Times& one : all) {
    parse += one.parse;
    ours += one.lower + one.check + one.emit;
    in += one.bytes_in;
    out += one.bytes_out;
    records += one.records;
    views += one.views;
  }
  std::printf("%zu of %zu modules, %zu records, %zu views, %zu bytes in, %zu out, best of %d\n", all.size(),
              inputs.size(), records, views, in, out, repetitions);
  row("parse", all, &Times::parse);
  row("lower", all, &Times::lower);
  row("check", all, &Times::check);
  row("emit", all, &Times::emit);
  std::printf("our share %.1f %% of parse + write; ours is %.2f of LLVM's parse\n", 100 * ours / (parse + ours),
              ours / parse);
  return all.size() != inputs.size();
}
