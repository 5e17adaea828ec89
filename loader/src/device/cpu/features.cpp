// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "features.hpp"

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "no CPU slices exist for this processor: build without the loader's cpu device"
#endif

namespace smelt::loader {
namespace {

CpuLevel from_row(const CpuLevelRow& row) {
  return {row.arch, row.number};
}

}  // namespace

std::string to_string(const CpuLevel& level) {
  if (const auto known = cpu_level_numbered(static_cast<uint32_t>(level.arch), level.level))
    return std::string(row_of(*known).name);
  if (level.arch == CpuArch::aarch64) return "aarch64";
  return level.level == 0 ? std::string("x86-64 below v3") : "x86-64-v" + std::to_string(level.level);
}

Result<CpuLevel> parse_cpu_level(std::string_view name) {
  if (const auto level = cpu_level_named(name)) return from_row(row_of(*level));
  return fail(Errc::invalid_argument, "CPU level '{}' is not known; the levels are {}", name, cpu_level_names());
}

CpuLevel host_cpu_level() {
  const auto level = host_level();
  return level ? from_row(row_of(*level)) : CpuLevel{schema::CpuArch::x86_64, 0};
}

bool runs_on(const CpuLevel& code, const CpuLevel& host) {
  return code.arch == host.arch && code.level <= host.level;
}

}  // namespace smelt::loader
