// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order groups of a launch run, and SIMD groups of code that watches: $SMELT_ORDER. A kernel whose result
// depends on it is right by luck.
#pragma once

#include "smelt/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace smelt::loader {

class LaunchOrder {
 public:
  /// "forward", "reverse", "random:SEED"; empty is none.
  static Result<LaunchOrder> parse(std::string_view text);
  /// Of $SMELT_ORDER, which may change while the process runs.
  static Result<LaunchOrder> of_environment();

  /// Whether somebody asked for one: groups run on one thread then, one by one.
  bool is_asked() const { return kind_ != Kind::none; }
  /// What runs as the `index`th of `count`: each of them once. `round` tells apart what is to be mixed anew.
  uint64_t at(uint64_t index, uint64_t count, uint64_t round = 0) const;

 private:
  enum class Kind : uint8_t { none, forward, reverse, random };
  Kind kind_ = Kind::none;
  uint64_t seed_ = 0;
};

}  // namespace smelt::loader
