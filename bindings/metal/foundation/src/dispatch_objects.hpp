// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What dispatch's files share. Objective-C++ without ARC.
#pragma once
#include "dispatch_threads.hpp"
#include "internal.hpp"

#include <condition_variable>
#include <mutex>

@interface OS_dispatch_object : NSObject <OS_dispatch_object>
@end

namespace smelt::dispatch {

std::chrono::steady_clock::time_point time_point(dispatch_time_t when);

/// True: it came to be before the time was over.
template <typename Ready>
bool wait_until(std::unique_lock<std::mutex>& guard, std::condition_variable& changed, dispatch_time_t until,
                Ready ready) {
  if (until == DISPATCH_TIME_FOREVER) {
    changed.wait(guard, ready);
    return true;
  }
  return changed.wait_until(guard, time_point(until), ready);
}

/// Keeps a copy of the block.
Work from_block(dispatch_block_t block);

/// To the end of the queue; nil is the global one.
void add(dispatch_queue_t to, Work work, bool barrier);

/// As in libdispatch, misuse that would never end, or is past mending, ends the program.
[[noreturn]] void fatal(const char* what, const char* label = nullptr);

}  // namespace smelt::dispatch
