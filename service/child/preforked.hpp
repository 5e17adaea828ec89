// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The next child, forked and warmed up while nobody waits: what a fresh fork pays at its first touch of a thousand
// pages (LLVM's code, the allocator's memory) is then paid before the job is there.
#pragma once

#include "filter.hpp"
#include "warm_up.hpp"

#include <sys/types.h>

namespace smelt::service {

class PreforkedChild {
 public:
  ~PreforkedChild() { drop(); }
  PreforkedChild() = default;
  PreforkedChild(const PreforkedChild&) = delete;
  PreforkedChild& operator=(const PreforkedChild&) = delete;

  /// Whether there is one, ready or not.
  bool exists() const { return process_ > 0; }
  /// Forks one. To be called while the caller has sockets of no job: the child would hold them open. No effect when it
  /// cannot be had.
  void make(const WarmUp& warm_up, scmp_filter_ctx filter);
  /// Has it serve a job, once and for all: its process, which is the caller's to reap. 0: it is not there, or not
  /// ready.
  pid_t serve(int socket);
  /// A child that ended: whether it was this one.
  bool ended(pid_t child);
  /// Ends it.
  void drop();

 private:
  void forget();

  pid_t process_ = 0;
  int channel_ = -1;
};

}  // namespace smelt::service
