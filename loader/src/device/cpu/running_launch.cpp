// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "running_launch.hpp"

namespace smelt::loader {

RunningLaunchOfThread& RunningLaunchOfThread::get() {
  // In the room that every thread has from its beginning: a signal's handler may ask for it first.
  [[gnu::tls_model("initial-exec")]] static thread_local RunningLaunchOfThread launch;
  return launch;
}

RunningLaunch& RunningLaunch::of_this_thread() {
  return RunningLaunchOfThread::get();
}

uint64_t RunningLaunch::buffer_bytes(uint32_t index) const {
  const auto& thread = static_cast<const RunningLaunchOfThread&>(*this);
  const smelt_cpu_dispatch* const dispatch = thread.dispatch_.load(std::memory_order_relaxed);
  return active() && dispatch != nullptr && index < SMELT_CPU_MAX_BUFFERS ? dispatch->buffer_bytes[index] : 0;
}

void RunningLaunch::end() {
  __atomic_store_n(&static_cast<RunningLaunchOfThread*>(this)->record_.claimed, SMELT_CPU_LAUNCH_ENDS,
                   __ATOMIC_RELAXED);
}

}  // namespace smelt::loader
