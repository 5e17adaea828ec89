// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What CPU code may assume of a processor, once for all modules: cpu_levels.def. The compiler makes code for a level,
// packages name it by two numbers, the loader asks which of them this machine runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace smelt {

/// The numbers are written into packages.
enum class CpuArch : uint32_t { x86_64 = 1, aarch64 = 2 };

enum class CpuLevel : uint8_t {
#define SMELT_CPU_LEVEL(id, ...) id,
#include "smelt/base/cpu_levels.def"
};

struct CpuLevelRow {
  std::string_view name;  ///< "x86-64-v3"
  CpuArch arch = CpuArch::x86_64;
  uint32_t number = 0;    ///< in packages
  const char* processor;  ///< LLVM's, and what else it has
  const char* features;
  bool is_wide = false;  ///< vectors of 512 bits are worth using
};

inline constexpr CpuLevelRow kCpuLevelRows[] = {
#define SMELT_CPU_LEVEL(id, name, arch, ...) {name, CpuArch::arch, __VA_ARGS__},
#include "smelt/base/cpu_levels.def"
};
inline constexpr size_t kCpuLevels = std::size(kCpuLevelRows);

constexpr const CpuLevelRow& row_of(CpuLevel level) {
  return kCpuLevelRows[static_cast<size_t>(level)];
}
constexpr std::string_view to_string(CpuLevel level) {
  return row_of(level).name;
}
std::optional<CpuLevel> cpu_level_named(std::string_view name);
/// What packages name by two numbers; nothing for what a newer smelt wrote.
std::optional<CpuLevel> cpu_level_numbered(uint32_t arch, uint32_t number);
/// "x86-64-v3, x86-64-v4, aarch64", for messages; `last` stands before the last one.
std::string cpu_level_names(std::string_view last = ", ");

/// The most that this processor and operating system run; nothing where they run none.
std::optional<CpuLevel> host_level();

}  // namespace smelt
