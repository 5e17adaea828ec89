// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of what code may be made for, and what this machine is. Without LLVM: keys need it.
#include "smelt/aot/cpu.hpp"

#include <array>

namespace smelt::aot {
namespace {

constexpr std::array<std::string_view, 3> kEffortNames = {"fast", "balanced", "best"};

}  // namespace

Result<CpuLevel> parse_cpu_level(std::string_view name) {
  if (const auto level = cpu_level_named(name)) return *level;
  return fail(Errc::invalid_argument, "processor level '{}' is not known; the levels are {}", name, cpu_level_names());
}

Result<CpuEffort> parse_cpu_effort(std::string_view word) {
  for (size_t i = 0; i < kEffortNames.size(); ++i)
    if (word == kEffortNames[i]) return static_cast<CpuEffort>(i);
  return fail(Errc::invalid_argument, "effort '{}' is not known; want fast, balanced or best", word);
}

std::string_view to_string(CpuEffort effort) {
  return kEffortNames[static_cast<size_t>(effort)];
}

Result<CpuLevel> host_cpu_level() {
  if (const auto level = host_level()) return *level;
#if defined(__x86_64__)
  return fail(Errc::unsupported, "this processor does not have all of x86-64-v3, the least that CPU code needs");
#else
  return fail(Errc::unsupported, "CPU slices exist for x86-64 and aarch64; this machine is neither");
#endif
}

}  // namespace smelt::aot
