// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread that calls what it is given, in order, each in a pool of its own: handlers of command buffers, listeners of
// shared events. It begins with the first call and ends when its owner is gone and all calls have been made; so its
// owner may be released by one of the calls.
#pragma once

#include <functional>
#include <memory>

namespace smelt::metal {

class Caller {
 public:
  /// For the trace.
  explicit Caller(const char* name);
  ~Caller();
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  void call(std::function<void()> what);
  /// Whether this is that thread.
  bool is_here() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace smelt::metal
