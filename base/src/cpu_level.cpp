// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// psABI micro-architecture levels (x86-64 psABI, "Micro-Architecture Levels"). A CPUID bit says what the processor has;
// XCR0 says which registers the operating system saves on a switch. Without the second, AVX code would work until the
// first context switch.
#include "smelt/base/cpu_level.hpp"

#include <algorithm>

#if defined(__x86_64__)
#if __has_include(<sys/platform/x86.h>)
#ifndef _Bool
#define _Bool bool  // a C header, and outside GCC nobody says this for C++
#endif
#include <sys/platform/x86.h>  // glibc 2.33: what the dynamic linker found out at start-up
#else
#include <cpuid.h>
#endif
#endif

namespace smelt {
namespace {

#if defined(__x86_64__)
#if !__has_include(<sys/platform/x86.h>)
struct CpuidRegisters {
  uint32_t basic_c = 0, extended_b = 0, amd_c = 0;
};

uint64_t saved_by_system() {
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

/// What the system must save: XMM and YMM; of wide vectors masks and ZMM, too.
bool saves(uint32_t basic_c, bool is_wide) {
  constexpr uint32_t kCanAsk = 1U << 27;  // OSXSAVE
  const uint64_t wanted = is_wide ? 0xe6 : 0x6;
  return (basic_c & kCanAsk) != 0 && (saved_by_system() & wanted) == wanted;
}
#endif

/// The lowest number of a level that lacks something.
uint32_t first_lacking() {
  uint32_t lacking = UINT32_MAX;
#if __has_include(<sys/platform/x86.h>)
  // A CPUID instruction leaves a virtual machine and costs it ten microseconds, as much as loading a kernel; glibc has
  // asked already. "Active" includes what the operating system saves.
#define SMELT_X86_FEATURE(number, name, word, bit) \
  if (!CPU_FEATURE_ACTIVE(name)) lacking = std::min<uint32_t>(lacking, number);
#include "smelt/base/cpu_levels.def"
#else
  CpuidRegisters has;
  uint32_t unused = 0, more = 0;
  __get_cpuid_count(1, 0, &unused, &more, &has.basic_c, &unused);
  __get_cpuid_count(7, 0, &unused, &has.extended_b, &more, &unused);
  __get_cpuid_count(0x80000001, 0, &unused, &more, &has.amd_c, &unused);
#define SMELT_X86_FEATURE(number, name, word, bit) \
  if ((has.word >> bit & 1) == 0) lacking = std::min<uint32_t>(lacking, number);
#include "smelt/base/cpu_levels.def"
  for (const CpuLevelRow& row : kCpuLevelRows)
    if (row.arch == CpuArch::x86_64 && !saves(has.basic_c, row.is_wide)) lacking = std::min(lacking, row.number);
#endif
  return lacking;
}

std::optional<CpuLevel> find_host_level() {
  const uint32_t lacking = first_lacking();
  std::optional<CpuLevel> found;
  for (size_t i = 0; i < kCpuLevels; ++i)
    if (kCpuLevelRows[i].arch == CpuArch::x86_64 && kCpuLevelRows[i].number < lacking) found = static_cast<CpuLevel>(i);
  return found;
}
#elif defined(__aarch64__)
std::optional<CpuLevel> find_host_level() {
  return CpuLevel::aarch64;
}
#else
std::optional<CpuLevel> find_host_level() {
  return std::nullopt;
}
#endif

}  // namespace

std::optional<CpuLevel> cpu_level_named(std::string_view name) {
  for (size_t i = 0; i < kCpuLevels; ++i)
    if (kCpuLevelRows[i].name == name) return static_cast<CpuLevel>(i);
  return std::nullopt;
}

std::optional<CpuLevel> cpu_level_numbered(uint32_t arch, uint32_t number) {
  for (size_t i = 0; i < kCpuLevels; ++i)
    if (static_cast<uint32_t>(kCpuLevelRows[i].arch) == arch && kCpuLevelRows[i].number == number)
      return static_cast<CpuLevel>(i);
  return std::nullopt;
}

std::string cpu_level_names(std::string_view last) {
  std::string names;
  for (size_t i = 0; i < kCpuLevels; ++i) {
    if (i != 0) names += i + 1 == kCpuLevels ? last : ", ";
    names += kCpuLevelRows[i].name;
  }
  return names;
}

std::optional<CpuLevel> host_level() {
  static const std::optional<CpuLevel> level = find_host_level();
  return level;
}

}  // namespace smelt
