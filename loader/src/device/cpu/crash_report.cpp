// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The handler may call nothing that allocates or locks.
#include "smelt/loader/crash_report.hpp"

#include "smelt/loader/library.hpp"

#include "running_launch.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace smelt::loader {
namespace {

constexpr std::array kSignals{SIGSEGV, SIGBUS};
std::array<struct sigaction, kSignals.size()> before;
std::string_view advice_of_process;

/// A line of limited length.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    const size_t count = std::min(text.size(), text_.size() - size_);
    std::copy_n(text.begin(), count, text_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += count;
    return *this;
  }
  Line& operator<<(uint64_t number) {
    std::array<char, 20> digits;
    size_t at = digits.size();
    do digits[--at] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    return *this << std::string_view(digits.data() + at, digits.size() - at);
  }
  void write() const { static_cast<void>(!::write(STDERR_FILENO, text_.data(), size_)); }

 private:
  std::array<char, 1024> text_;
  size_t size_ = 0;
};

void tell(const RunningLaunch& launch, std::string_view signal) {
  Line line;
  line << "smelt: kernel '" << launch.pipeline()->name() << "' left the memory that it was given (" << signal << "); ";
  bool any = false;
  for (uint32_t i = 0; i < SMELT_CPU_MAX_BUFFERS; ++i) {
    const uint64_t bytes = launch.buffer_bytes(i);
    if (bytes == 0) continue;
    line << (any ? ", buffer " : "buffer ") << uint64_t{i} << " has " << bytes << " bytes";
    any = true;
  }
  line << (any ? ". " : "no buffer is bound. ") << advice_of_process << "\n";
  line.write();
}

void handle(int signal, siginfo_t*, void*) {
  const RunningLaunch& launch = RunningLaunch::of_this_thread();
  if (launch.active()) tell(launch, signal == SIGBUS ? "SIGBUS" : "SIGSEGV");
  // The instruction is run again, and faults again: for whoever was asked before, or nobody.
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before[i], nullptr);
}

}  // namespace

void report_crashes(std::string_view advice) {
  [[maybe_unused]] static const bool once = [&] {
    advice_of_process = advice;
    struct sigaction action{};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &before[i]);
    return true;
  }();
}

}  // namespace smelt::loader
