// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fork_safety.hpp"

#include "store_state.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace smelt::cache {
namespace {

// A writer that warns may wait for a lock of the thread that forks (Python's GIL), so nobody is waited for without end.
constexpr std::chrono::seconds kMostWait{3};

/// Never destroyed: a process may fork at its end.
struct OpenStates {
  std::mutex mutex;
  std::vector<StoreState*> all;
  std::vector<StoreState*> still;  // those whose mutex the fork holds
};

OpenStates& open_states() {
  static auto* const states = new OpenStates;
  return *states;
}

void before_fork() {
  OpenStates& states = open_states();
  states.mutex.lock();
  const auto until = std::chrono::steady_clock::now() + kMostWait;
  for (StoreState* state : states.all) {
    if (!state->mutex.try_lock_until(until)) continue;
    state->before_fork();
    states.still.push_back(state);
  }
  hold_lock_files();
}

void after_fork(bool in_child) {
  OpenStates& states = open_states();
  release_lock_files(in_child);
  if (in_child)
    for (StoreState* state : states.all) state->lock_fd = -1;
  for (StoreState* state : states.still) state->mutex.unlock();
  states.still.clear();
  states.mutex.unlock();
}

}  // namespace

void add_store(StoreState& state) {
  [[maybe_unused]] static const int told =
      ::pthread_atfork(before_fork, [] { after_fork(false); }, [] { after_fork(true); });
  const std::lock_guard lock(open_states().mutex);
  open_states().all.push_back(&state);
}

void remove_store(StoreState& state) {
  const std::lock_guard lock(open_states().mutex);
  std::erase(open_states().all, &state);
}

}  // namespace smelt::cache
