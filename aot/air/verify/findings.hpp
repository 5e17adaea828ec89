// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A list of findings under construction, with the place that is being looked at.
#pragma once

#include "smelt/aot/verify.hpp"

#include <fmt/format.h>

namespace smelt::aot::verify {

class Findings {
 public:
  explicit Findings(std::vector<Finding>& list) : list_(list) {}

  template <class... Args>
  void error(Check check, std::string place, fmt::format_string<Args...> format, Args&&... args) {
    list_.push_back(
        {Finding::Severity::error, check, in(std::move(place)), fmt::format(format, std::forward<Args>(args)...)});
  }
  template <class... Args>
  void note(Check check, std::string place, fmt::format_string<Args...> format, Args&&... args) {
    list_.push_back(
        {Finding::Severity::note, check, in(std::move(place)), fmt::format(format, std::forward<Args>(args)...)});
  }
  /// Findings of somebody who did not know the prefix.
  void add(std::vector<Finding> found) {
    for (Finding& one : found) {
      one.place = in(std::move(one.place));
      list_.push_back(std::move(one));
    }
  }
  /// What all places begin with, e.g. "function 'saxpy'".
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }

 private:
  std::string in(std::string place) const {
    if (prefix_.empty()) return place;
    return place.empty() ? prefix_ : fmt::format("{}, {}", prefix_, place);
  }

  std::vector<Finding>& list_;
  std::string prefix_;
};

}  // namespace smelt::aot::verify
