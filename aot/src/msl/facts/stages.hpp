// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stages that Metal source is compiled for, in AIR's and Metal's words.
#pragma once

#include "smelt/base/entry_interface.hpp"

#include <string_view>

namespace smelt::aot::msl {

/// "kernel", "vertex", "fragment"; no other stage comes this far.
constexpr std::string_view stage_word(Stage stage) {
  return stage == Stage::vertex ? "vertex" : stage == Stage::fragment ? "fragment" : "kernel";
}

}  // namespace smelt::aot::msl
