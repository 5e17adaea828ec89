// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tells launches that their time is over, also those that never come back to ask: code that may go on without end looks
// at its launch's record.
#pragma once

#include "smelt/schema/cpu_abi.h"

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

namespace smelt::loader {

/// Code that looks at its launch's record returns soon. Threads: any.
inline void end_launch(smelt_cpu_fault& record) {
  __atomic_store_n(&record.claimed, SMELT_CPU_LAUNCH_ENDS, __ATOMIC_RELAXED);
}

/// Threads: launches of any number of them. Its own thread begins with the first launch, and sleeps while there is
/// none.
class Watchdog {
 public:
  /// `limit`: of one launch; 0: none, and then nothing is done at all.
  explicit Watchdog(std::chrono::milliseconds limit) : limit_(limit) {}
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// One launch, from its construction to its destruction. `record` outlives it.
  class Launch {
   public:
    Launch(Watchdog& watchdog, smelt_cpu_fault& record);
    ~Launch();
    Launch(const Launch&) = delete;
    Launch& operator=(const Launch&) = delete;

   private:
    friend class Watchdog;
    Watchdog* const watchdog_;  // null without a limit
    smelt_cpu_fault& record_;
    std::chrono::steady_clock::time_point until_;
    std::list<Launch*>::iterator place_;
  };

 private:
  void watch();

  const std::chrono::milliseconds limit_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::list<Launch*> launches_;  // the oldest first
  bool sleeps_ = false;          // until somebody notifies
  bool ends_ = false;
  std::thread thread_;
  int process_ = 0;  // that the thread lives in: a forked child has none
};

}  // namespace smelt::loader
