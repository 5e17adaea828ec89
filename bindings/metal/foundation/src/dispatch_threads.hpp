// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who does dispatch's work: one pool of threads, which grows while work waits and nobody is idle, to 64; a thread with
// nothing to do for five seconds ends. And a thread for work that is done later.
#pragma once
#include <chrono>
#include <functional>

namespace smelt::dispatch {

using Work = std::function<void()>;

void run_on_pool(Work work);
void run_at(std::chrono::steady_clock::time_point when, Work work);

}  // namespace smelt::dispatch
