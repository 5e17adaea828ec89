// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/watch.hpp"

#include "smelt/aot/within_limits.hpp"
#include "smelt/base/platform.hpp"

#include "llvm_support/guard.hpp"
#include "llvm_support/slow_passes.hpp"

#include <algorithm>
#include <utility>

namespace smelt::aot {

/// Limits, and when they began.
class Watch {
 public:
  explicit Watch(Limits limits) : limits_(std::move(limits)) {}

  Result<void> check() const {
    if (limits_.cancel && limits_.cancel->load(std::memory_order_relaxed)) return fail(Errc::cancelled, "cancelled");
    if (limits_.time.count() != 0 && so_far() > limits_.time)
      return fail(Errc::cancelled, "not compiled within the limit of {:.3g} s",
                  std::chrono::duration<double>(limits_.time).count());
    if (limits_.memory_bytes != 0) {
      if (const uint64_t held = platform::memory_use().resident; held > limits_.memory_bytes)
        return fail(Errc::cancelled, "compiling took {} MB of memory, the limit is {} MB", held >> 20,
                    limits_.memory_bytes >> 20);
    }
    return {};
  }

  const Limits& limits() const { return limits_; }
  std::chrono::steady_clock::duration so_far() const { return std::chrono::steady_clock::now() - began_; }

 private:
  const Limits limits_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

namespace {
thread_local const Watch* current = nullptr;
}  // namespace

void Limited::begin(const Limits& limits) {
  watch_ = new Watch(limits);
  outer_ = std::exchange(current, watch_);
}
void Limited::end() {
  current = outer_;
  delete watch_;
}

const Watch* current_watch() {
  return current;
}
const Limits* current_limits() {
  return current ? &current->limits() : nullptr;
}
std::optional<std::chrono::milliseconds> time_left() {
  if (!current || current->limits().time.count() == 0) return std::nullopt;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(current->limits().time - current->so_far());
  return std::max(left, std::chrono::milliseconds(1));
}
Inherited::Inherited(const Watch* watch) : outer_(std::exchange(current, watch)) {}
Inherited::~Inherited() {
  current = outer_;
}

bool was_ended(const Error& error) {
  return error.code == Errc::cancelled || error.code == Errc::out_of_memory;
}

Result<void> check_limits() {
  return current ? current->check() : Result<void>();
}

Result<void> within_limits() {
  return check_limits();
}

void stop_at_limits() {
  if (!current) return;
  if (const auto fine = current->check(); !fine) give_up(fine.error());
}

llvm::PassInstrumentationCallbacks* pass_callbacks() {
  static llvm::PassInstrumentationCallbacks* const callbacks = [] {
    auto* const made = new llvm::PassInstrumentationCallbacks;  // read by all threads, for the process's whole life
    made->registerBeforeNonSkippedPassCallback([](llvm::StringRef, llvm::Any) { stop_at_limits(); });
    made->registerShouldRunOptionalPassCallback([](llvm::StringRef pass, llvm::Any) { return !is_left_out(pass); });
    return made;
  }();
  return callbacks;
}

}  // namespace smelt::aot
