// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups that wait for each other in a loop (schema::CpuKernel::waits), as at a barrier of the whole grid: those that
// wait keep a processor, and those that they wait for have to run all the same.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace smelt::loader {

/// At most this many groups run at the same time.
constexpr unsigned kMostWaitingGroups = 256;
/// If no group ends for this long and no other can begin, the running groups must be waiting for some that cannot run.
constexpr std::chrono::seconds kWaitingPatience{5};

struct WaitingGroups {
  uint64_t count = 0;
  unsigned threads = 1;                   ///< to begin with; more when no group ends
  std::function<void(uint64_t)> run;      ///< one group; from any thread, in the order of their numbers
  std::function<bool()> is_asked_to_end;  ///< by the calling thread, now and then
  std::function<void()> end;              ///< makes the groups that run return soon
};

/// Returns false if it ended the launch, because groups waited for some that had not begun.
bool run_waiting_groups(const WaitingGroups& groups);

/// For groups that run one after the other, on the thread that makes it: ends a launch whose group waits for one that
/// comes after it.
class WaitingGuard {
 public:
  explicit WaitingGuard(std::function<void()> end);
  ~WaitingGuard();
  WaitingGuard(const WaitingGuard&) = delete;
  WaitingGuard& operator=(const WaitingGuard&) = delete;

  /// Call this before each group. `last`: no group comes after it, so it may take any time.
  void begins(bool last);
  bool has_ended_it() const { return has_ended_it_; }

 private:
  void watch();

  const std::function<void()> end_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::chrono::steady_clock::time_point until_;
  bool watches_ = false;
  bool is_over_ = false;
  std::atomic<bool> has_ended_it_{false};
  std::thread thread_;
};

}  // namespace smelt::loader
