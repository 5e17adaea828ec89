// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which elements of a matrix product each thread holds: $SMELT_MPP_LAYOUT. A kernel whose result depends on it counts
// on one device's layout.
#pragma once

#include "smelt/base/result.hpp"
#include "smelt/schema/cpu_abi.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace smelt::loader {

/// smelt_cpu_dispatch::tensor_layout of "m5" or "scrambled"; empty is m5.
inline Result<uint32_t> parse_tensor_layout(std::string_view text) {
  if (text.empty() || text == "m5") return SMELT_CPU_TENSORS_M5;
  if (text == "scrambled") return SMELT_CPU_TENSORS_SCRAMBLED;
  return fail(Errc::invalid_argument, "SMELT_MPP_LAYOUT is '{}'; want m5 or scrambled", text);
}

inline Result<uint32_t> tensor_layout_of_environment() {
  const char* const text = std::getenv("SMELT_MPP_LAYOUT");
  return parse_tensor_layout(text != nullptr ? text : "");
}

}  // namespace smelt::loader
