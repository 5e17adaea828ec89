// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work and what it waits for. A device's queues make nodes and say which earlier nodes each must follow; the device's
// lanes (threads) run whatever waits for nothing, oldest first. Everything that Metal orders is such an edge: hazards
// of tracked resources, barriers, fences, events, and the completion of command buffers in their order. So work that
// nothing orders really runs at the same time, and a program that forgot a fence can be seen to be wrong.
#pragma once

#include "smelt/loader/encoder.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace smelt::metal {

/// A lane's own things, for the node that it runs.
struct Lane {
  unsigned number = 0;
  std::unique_ptr<loader::Encoder> encoder;
};

class Node {
 public:
  virtual ~Node() = default;
  /// Called once, on a lane, when everything that the node waits for is done. False: not done yet; who knows when it is
  /// will call Scheduler::finish.
  virtual bool run(Lane& lane) = 0;

 private:
  friend class Scheduler;
  size_t waits_for_ = 0;
  bool done_ = false;
  std::vector<std::shared_ptr<Node>> next_;  // that wait for this one
};
using NodeRef = std::shared_ptr<Node>;

/// Does nothing: stands for all that it follows.
class JoinNode final : public Node {
 public:
  bool run(Lane&) override { return true; }
};

/// The lanes of one device. Lives as long as the process.
class Scheduler {
 public:
  Scheduler(loader::DeviceRef device, unsigned lanes);
  ~Scheduler() = delete;

  /// Held while nodes are added: none becomes done meanwhile.
  using Lock = std::unique_lock<std::mutex>;
  Lock lock() { return Lock(mutex_); }
  /// `node`, not yet added, is to run after `earlier`. Null and what is done: nothing to wait for.
  void follow(const Lock&, const NodeRef& node, const NodeRef& earlier);
  /// From here on the node may run.
  void add(const Lock&, NodeRef node);
  bool is_done(const Lock&, const NodeRef& node) const { return !node || node->done_; }

  /// Lets lanes end what they run and take nothing more: before the program's statics go. Some seconds at most.
  void rest();

  /// The end of a node whose run() said that it is not done. Any thread, no lock held.
  void finish(const NodeRef& node);

 private:
  void serve(unsigned number);
  void finish_locked(const NodeRef& node, bool on_lane);
  void wake_lane();
  void sleep(Lock& held);

  const loader::DeviceRef device_;
  const unsigned lanes_;
  std::mutex mutex_;
  std::condition_variable wake_, quiet_;
  std::deque<NodeRef> ready_;
  size_t idle_ = 0;     // lanes that sleep
  bool looks_ = false;  // whether one of them looks around by itself, which one does while others run
  std::atomic<bool> stopped_{false};
  std::vector<std::thread> threads_;  // started when there is work for them
};

}  // namespace smelt::metal
