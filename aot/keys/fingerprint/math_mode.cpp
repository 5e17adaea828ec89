// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/aot/math_mode.hpp"

#include <algorithm>
#include <array>

namespace smelt::aot {
namespace {

constexpr std::string_view kMode = "-fmetal-math-mode=", kFunctions = "-fmetal-math-fp32-functions=";
constexpr std::array<std::string_view, 5> kLevels = {"", "s", "z", "g", "fast"};

/// As Clang: any number is a level.
bool is_level(std::string_view value) {
  return std::find(kLevels.begin(), kLevels.end(), value) != kLevels.end() ||
         value.find_first_not_of("0123456789") == std::string_view::npos;
}

tl::unexpected<Error> wrong(std::string_view flag, size_t value_at, std::string_view use) {
  return fail(Errc::invalid_argument, "invalid value '{}' in '{}'; use {}", flag.substr(value_at), flag, use);
}

}  // namespace

Result<bool> DriverFlags::take(std::string_view flag) {
  if (flag.starts_with(kMode)) {
    const std::string_view value = flag.substr(kMode.size());
    if (value != "fast" && value != "relaxed" && value != "safe")
      return wrong(flag, kMode.size(), "fast, relaxed or safe");
    mode_ = value == "fast" ? MathMode::fast : value == "relaxed" ? MathMode::relaxed : MathMode::safe;
    return true;
  }
  if (flag.starts_with(kFunctions)) {
    const std::string_view value = flag.substr(kFunctions.size());
    if (value != "fast" && value != "precise") return wrong(flag, kFunctions.size(), "fast or precise");
    fast_functions_ = value == "fast";
    return true;
  }
  if (flag.starts_with("-O") && !is_level(flag.substr(2))) return wrong(flag, 2, "-O0 to -O3, -Os, -Oz, -Og or -Ofast");
  if (flag == "-ffast-math" || flag == "-fno-fast-math" || flag == "-Ofast") {
    const bool is_fast = flag != "-fno-fast-math";
    mode_ = is_fast ? MathMode::fast : MathMode::safe;
    fast_functions_ = is_fast;
    return true;
  }
  return flag.starts_with("-O");
}

}  // namespace smelt::aot
