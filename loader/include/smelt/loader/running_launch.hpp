// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launch that a thread is in. Another thread uses it to end the launch at Ctrl-C, a signal handler to report what
// ran when the process crashed. CPU only.
#pragma once

#include <atomic>
#include <cstdint>

namespace smelt::loader {

class PipelineState;

/// The launch that a thread is running. Only that thread writes it; any thread, and a signal handler, may read it.
class RunningLaunch {
 public:
  /// That of the calling thread, which lives as long as the thread.
  static RunningLaunch& of_this_thread();

  /// The number of launches that have begun. If it has not changed between two moments at which active() was true, it
  /// was the same launch.
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  /// Whether a launch is running.
  bool active() const { return pipeline() != nullptr; }
  /// The pipeline that runs; null between launches.
  const PipelineState* pipeline() const { return pipeline_.load(std::memory_order_acquire); }
  /// The number of bytes that are bound to [[buffer(index)]]; 0 between launches.
  uint64_t buffer_bytes(uint32_t index) const;

  /// Ends the launch between two groups, or in a loop without a known bound; it is then `cancelled`. Without a launch,
  /// this does nothing.
  void end();

 protected:
  std::atomic<uint64_t> count_{0};
  std::atomic<const PipelineState*> pipeline_{nullptr};
};

}  // namespace smelt::loader
