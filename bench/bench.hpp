// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What benches share: a clock, medians, and rows that put a figure beside its rival's from the same run.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::bench {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Milliseconds of processor time of this process: does not change when the machine is busy.
inline double cpu_ms() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

inline double percentile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<size_t>(part * static_cast<double>(values.size())))];
}
inline double median(const std::vector<double>& values) {
  return percentile(values, 0.5);
}
inline double least(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

/// Seconds that `work` takes.
inline double timed(const std::function<void()>& work) {
  const double start = now();
  work();
  return now() - start;
}

/// A line of the table that scripts/bench makes (bench/rows.py knows its title and its aim), appended to the file
/// $SMELT_BENCH_ROWS. Both figures are in `unit`, less is better; a rival of 0: there is none.
inline void record(std::string_view row, std::string_view unit, double ours, double rival) {
  const char* const name = std::getenv("SMELT_BENCH_ROWS");
  if (name == nullptr || *name == 0) return;
  if (std::FILE* const file = std::fopen(name, "ae"); file != nullptr) {
    fmt::print(file, "{{\"row\": \"{}\", \"unit\": \"{}\", \"ours\": {:.6g}, \"rival\": {:.6g}}}\n", row, unit, ours,
               rival);
    std::fclose(file);
  }
}

/// Keeps a value from being optimised away.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace smelt::bench
