// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who used which tracked resource last, on one queue: what makes a pass wait for earlier ones.
//
// A resource has two layers: `now`, the nodes of the pass that used it last, and `before`, whom nodes of that pass had
// to wait for. Nodes of one pass do not wait for each other (a concurrent encoder has barriers for that), so a later
// node of the same pass waits for `before`; the first node of another pass turns `now` into `before`:
//
//   pass 1  writes A            now: W1            before: -
//   pass 2  reads A twice       now: R2 R2'        before: W1        (each waits for W1)
//   pass 3  writes A            now: W3            before: W1 R2 R2' (waits for all)
#pragma once

#include "schedule.hpp"

#include <unordered_map>

namespace smelt::metal {

struct ResourceUse {
  uint64_t resource = 0;  ///< BufferObject::hazard
  bool writes = false;
};

/// Guarded by the scheduler's lock.
class HazardTable {
 public:
  explicit HazardTable(Scheduler& scheduler) : scheduler_(scheduler) {}
  /// Makes `node` of `pass` wait for whom it must, and remembers it.
  void use(const Scheduler::Lock& lock, const NodeRef& node, uint64_t pass, ResourceUse use);
  /// Forgets what is done.
  void prune(const Scheduler::Lock& lock);

 private:
  struct Users {
    std::vector<NodeRef> readers, writers;
  };
  struct State {
    uint64_t pass = 0;
    Users now, before;
  };
  Scheduler& scheduler_;
  std::unordered_map<uint64_t, State> states_;
  size_t prune_at_ = 256;
};

}  // namespace smelt::metal
