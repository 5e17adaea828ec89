// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launch that a thread is in. Another thread uses it to end the launch at Ctrl-C, a signal handler to report what
// ran when the process crashed. CPU only.
#pragma once

#include <atomic>
#include <cstdint>

namespace smelt::loader {

class PipelineState;

/// Its own thread writes it; any thread, and a signal's handler, may read it.
class RunningLaunch {
 public:
  /// The calling thread's, which lives as long as the thread.
  static RunningLaunch& of_this_thread();

  /// Launches that have begun: the same number at two moments, and active() at both, is one launch.
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  bool active() const { return pipeline() != nullptr; }
  /// Null between launches.
  const PipelineState* pipeline() const { return pipeline_.load(std::memory_order_acquire); }
  /// Bytes that are bound as [[buffer(index)]]; 0 between launches.
  uint64_t buffer_bytes(uint32_t index) const;

  /// Asks the launch to end, between groups and in loops with no known bound. It is then `cancelled`. Without a launch
  /// this does nothing.
  void end();

 protected:
  std::atomic<uint64_t> count_{0};
  std::atomic<const PipelineState*> pipeline_{nullptr};
};

}  // namespace smelt::loader
