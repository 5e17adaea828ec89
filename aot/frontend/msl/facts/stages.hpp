// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stages that Metal source is compiled for, in AIR's and Metal's words.
#pragma once

#include "smelt/base/entry_interface.hpp"

#include <string_view>

namespace smelt::aot::msl {

/// Kernels and their like: threads in threadgroups, which share memory.
constexpr bool has_threadgroups(Stage stage) {
  return stage == Stage::kernel || stage == Stage::mesh || stage == Stage::object;
}

/// "kernel", "vertex", "fragment", "mesh", "object", "visible", "intersection"; no other stage comes this far.
constexpr std::string_view stage_word(Stage stage) {
  return stage == Stage::vertex         ? "vertex"
         : stage == Stage::fragment     ? "fragment"
         : stage == Stage::mesh         ? "mesh"
         : stage == Stage::object       ? "object"
         : stage == Stage::visible      ? "visible"
         : stage == Stage::intersection ? "intersection"
                                        : "kernel";
}

}  // namespace smelt::aot::msl
