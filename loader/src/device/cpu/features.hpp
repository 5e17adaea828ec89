// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What this processor can run: the levels of CPU slices. Slices may be of levels that a newer smelt knows.
#pragma once

#include "smelt/base/cpu_level.hpp"
#include "smelt/base/result.hpp"
#include "smelt/schema/cpu_slice.hpp"

#include <string>
#include <string_view>

namespace smelt::loader {

struct CpuLevel {
  schema::CpuArch arch = schema::CpuArch::x86_64;
  uint32_t level = 0;
  bool operator==(const CpuLevel&) const = default;
};

/// "x86-64-v3", "aarch64"; level 0 on x86-64 means that nothing we compile runs here.
std::string to_string(const CpuLevel& level);
Result<CpuLevel> parse_cpu_level(std::string_view name);

/// The highest level that this processor and operating system run.
CpuLevel host_cpu_level();

/// Whether code of `code` runs where `host` is what there is.
bool runs_on(const CpuLevel& code, const CpuLevel& host);

}  // namespace smelt::loader
