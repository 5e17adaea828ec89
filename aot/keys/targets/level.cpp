// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of what code may be made for, and what this machine is. Without LLVM: keys need it.
#include "smelt/aot/cpu.hpp"

#include <array>

namespace smelt::aot {
namespace {

constexpr std::array<std::string_view, 3> kLevelNames = {"x86-64-v3", "x86-64-v4", "aarch64"};
constexpr std::array<std::string_view, 3> kEffortNames = {"fast", "balanced", "best"};

}  // namespace

Result<CpuLevel> parse_cpu_level(std::string_view name) {
  for (size_t i = 0; i < kLevelNames.size(); ++i)
    if (name == kLevelNames[i]) return static_cast<CpuLevel>(i);
  return fail(Errc::invalid_argument, "processor level '{}' is not known; known are x86-64-v3, x86-64-v4, aarch64",
              name);
}

std::string_view to_string(CpuLevel level) {
  return kLevelNames[static_cast<size_t>(level)];
}

Result<CpuEffort> parse_cpu_effort(std::string_view word) {
  for (size_t i = 0; i < kEffortNames.size(); ++i)
    if (word == kEffortNames[i]) return static_cast<CpuEffort>(i);
  return fail(Errc::invalid_argument, "effort '{}' is not known; known are fast, balanced, best", word);
}

std::string_view to_string(CpuEffort effort) {
  return kEffortNames[static_cast<size_t>(effort)];
}

Result<CpuLevel> host_cpu_level() {
#if defined(__aarch64__)
  return CpuLevel::aarch64;
#elif defined(__x86_64__)
  // Processor and system: the compiler's runtime asks both.
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("x86-64-v3"))
    return fail(Errc::unsupported, "this processor does not have all of x86-64-v3, the least that CPU code needs");
  return __builtin_cpu_supports("x86-64-v4") ? CpuLevel::x86_64_v4 : CpuLevel::x86_64_v3;
#else
  return fail(Errc::unsupported, "CPU slices exist for x86-64 and aarch64; this machine is neither");
#endif
}

}  // namespace smelt::aot
