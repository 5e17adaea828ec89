// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "caller.hpp"

#include "smelt/base/trace.hpp"

#include "Foundation/object.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace smelt::metal {

struct Caller::State {
  const char* name = "";
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::function<void()>> calls;
  bool ends = false;
  bool runs = false;
  std::thread::id thread;

  void serve() {
    trace_thread(name);
    std::unique_lock held(mutex);
    for (;;) {
      wake.wait(held, [&] { return ends || !calls.empty(); });
      if (calls.empty()) return;
      std::function<void()> next = std::move(calls.front());
      calls.pop_front();
      held.unlock();
      {
        const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
        next();
        next = nullptr;
      }
      held.lock();
    }
  }
};

Caller::Caller(const char* name) : state_(std::make_shared<State>()) {
  state_->name = name;
}

Caller::~Caller() {
  const std::lock_guard guard(state_->mutex);
  state_->ends = true;
  state_->wake.notify_one();
}

void Caller::call(std::function<void()> what) {
  const std::lock_guard guard(state_->mutex);
  state_->calls.push_back(std::move(what));
  if (!state_->runs) {
    state_->runs = true;
    std::thread thread([state = state_] { state->serve(); });
    state_->thread = thread.get_id();
    thread.detach();
  }
  state_->wake.notify_one();
}

bool Caller::is_here() const {
  const std::lock_guard guard(state_->mutex);
  return state_->runs && state_->thread == std::this_thread::get_id();
}

}  // namespace smelt::metal
