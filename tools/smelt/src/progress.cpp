// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace smelt::cli {

ProgressBar::ProgressBar() : start_(std::chrono::steady_clock::now()), terminal_(::isatty(STDERR_FILENO) == 1) {}

service::Progress ProgressBar::callback() {
  if (!terminal_) return {};
  return [this](std::string_view stage, size_t done, size_t total) { show(stage, done, total); };
}

void ProgressBar::show(std::string_view stage, size_t done, size_t total) {
  if (total == 0 || std::chrono::steady_clock::now() - start_ < std::chrono::seconds(1)) return;
  constexpr size_t kWidth = 30;
  const size_t filled = kWidth * done / total;
  fmt::print(stderr, "\r{:10} [{:=<{}}{: <{}}] {}/{} ", stage, "", filled, "", kWidth - filled, done, total);
  std::fflush(stderr);
  shown_ = true;
}

void ProgressBar::done() {
  if (shown_) fmt::print(stderr, "\r{: <60}\r", "");
  shown_ = false;
}

}  // namespace smelt::cli
