// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A progress bar on a terminal for what takes over a second; nothing in a pipe.
#pragma once

#include "smelt/service/session.hpp"

#include <chrono>

namespace smelt::cli {

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar() { done(); }
  service::Progress callback();
  void done();

 private:
  void show(std::string_view stage, size_t done, size_t total);
  std::chrono::steady_clock::time_point start_;
  bool terminal_;
  bool shown_ = false;
};

}  // namespace smelt::cli
