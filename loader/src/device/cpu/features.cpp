// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// psABI micro-architecture levels (x86-64 psABI, "Micro-Architecture Levels"). A CPUID bit says what the processor has;
// XCR0 says which registers the operating system saves on a switch. Without the second, AVX code would work until the
// first context switch.
#include "features.hpp"

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

namespace smelt::loader {
namespace {

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
// A CPUID instruction leaves a virtual machine and costs it ten microseconds, as much as loading a kernel; glibc has
// asked already. "Active" includes what the operating system saves.
uint32_t x86_level() {
  const bool v2 = CPU_FEATURE_ACTIVE(SSE3) && CPU_FEATURE_ACTIVE(SSSE3) && CPU_FEATURE_ACTIVE(CMPXCHG16B) &&
                  CPU_FEATURE_ACTIVE(SSE4_1) && CPU_FEATURE_ACTIVE(SSE4_2) && CPU_FEATURE_ACTIVE(POPCNT) &&
                  CPU_FEATURE_ACTIVE(LAHF64_SAHF64);
  const bool v3 = v2 && CPU_FEATURE_ACTIVE(FMA) && CPU_FEATURE_ACTIVE(MOVBE) && CPU_FEATURE_ACTIVE(AVX) &&
                  CPU_FEATURE_ACTIVE(F16C) && CPU_FEATURE_ACTIVE(BMI1) && CPU_FEATURE_ACTIVE(AVX2) &&
                  CPU_FEATURE_ACTIVE(BMI2) && CPU_FEATURE_ACTIVE(LZCNT);
  const bool v4 = v3 && CPU_FEATURE_ACTIVE(AVX512F) && CPU_FEATURE_ACTIVE(AVX512DQ) && CPU_FEATURE_ACTIVE(AVX512CD) &&
                  CPU_FEATURE_ACTIVE(AVX512BW) && CPU_FEATURE_ACTIVE(AVX512VL);
  return v4 ? 4 : v3 ? 3 : 0;
}
#elif defined(__x86_64__)
struct Registers {
  uint32_t a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(uint32_t leaf, uint32_t sub_leaf = 0) {
  Registers r;
  if (__get_cpuid_count(leaf, sub_leaf, &r.a, &r.b, &r.c, &r.d) == 0) return {};
  return r;
}

uint64_t saved_by_system() {
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

constexpr bool has(uint32_t word, std::initializer_list<int> bits) {
  for (int bit : bits)
    if ((word >> bit & 1) == 0) return false;
  return true;
}

uint32_t x86_level() {
  const Registers basic = cpuid(1), extended = cpuid(7), amd = cpuid(0x80000001);
  // SSE3, SSSE3, CX16, SSE4.1, SSE4.2, POPCNT; LAHF
  const bool v2 = has(basic.c, {0, 9, 13, 19, 20, 23}) && has(amd.c, {0});
  // FMA, MOVBE, OSXSAVE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT; XMM and YMM saved
  const bool v3 = v2 && has(basic.c, {12, 22, 27, 28, 29}) && has(extended.b, {3, 5, 8}) && has(amd.c, {5}) &&
                  (saved_by_system() & 0x6) == 0x6;
  // AVX-512 F, DQ, CD, BW, VL; masks and ZMM saved
  const bool v4 = v3 && has(extended.b, {16, 17, 28, 30, 31}) && (saved_by_system() & 0xe6) == 0xe6;
  return v4 ? 4 : v3 ? 3 : 0;
}
#endif

}  // namespace

std::string to_string(const CpuLevel& level) {
  if (level.arch == schema::CpuArch::aarch64) return "aarch64";
  return level.level == 0 ? std::string("x86-64 below v3") : "x86-64-v" + std::to_string(level.level);
}

Result<CpuLevel> parse_cpu_level(std::string_view name) {
  if (name == "x86-64-v3") return CpuLevel{schema::CpuArch::x86_64, 3};
  if (name == "x86-64-v4") return CpuLevel{schema::CpuArch::x86_64, 4};
  if (name == "aarch64") return CpuLevel{schema::CpuArch::aarch64, 0};
  return fail(Errc::invalid_argument, "CPU level '{}' is not known; known are x86-64-v3, x86-64-v4, aarch64", name);
}

CpuLevel host_cpu_level() {
#if defined(__x86_64__)
  static const uint32_t level = x86_level();
  return {schema::CpuArch::x86_64, level};
#elif defined(__aarch64__)
  return {schema::CpuArch::aarch64, 0};
#else
#error "no CPU slices exist for this processor: build without the loader's cpu device"
#endif
}

bool runs_on(const CpuLevel& code, const CpuLevel& host) {
  return code.arch == host.arch && code.level <= host.level;
}

}  // namespace smelt::loader
