// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launch that a thread is in, for who watches it from another thread (to end it at Ctrl-C) or from a signal's
// handler (to say what ran when the process crashed). CPU only.
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

  /// Asks the launch to end: in loops of which nobody knows when they end, and between groups. It is then `cancelled`.
  /// Between two launches it asks nobody.
  void end();

 protected:
  std::atomic<uint64_t> count_{0};
  std::atomic<const PipelineState*> pipeline_{nullptr};
};

}  // namespace smelt::loader
