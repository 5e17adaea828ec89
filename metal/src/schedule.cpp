// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace smelt::metal {

Scheduler::Scheduler(loader::DeviceRef device, unsigned lanes) : device_(std::move(device)), lanes_(lanes) {}

void Scheduler::follow(const Lock&, const NodeRef& node, const NodeRef& earlier) {
  if (!earlier || earlier->done_ || earlier == node) return;
  // Hazards name the same node several times in a row.
  if (!earlier->next_.empty() && earlier->next_.back() == node) return;
  earlier->next_.push_back(node);
  ++node->waits_for_;
}

void Scheduler::add(const Lock&, NodeRef node) {
  if (node->waits_for_ != 0) return;
  ready_.push_back(std::move(node));
  wake_lane();
}

/// One lane more for what has become ready: a sleeping one, else a new one while there may be more.
void Scheduler::wake_lane() {
  if (ready_.size() > idle_ && threads_.size() < lanes_)
    threads_.emplace_back([this, number = static_cast<unsigned>(threads_.size())] { serve(number); });
  else if (idle_ != 0)
    wake_.notify_one();
}

void Scheduler::finish(const NodeRef& node) {
  const Lock held = lock();
  finish_locked(node, false);
}

void Scheduler::finish_locked(const NodeRef& node, bool on_lane) {
  node->done_ = true;
  const std::vector<NodeRef> next = std::move(node->next_);
  node->next_.clear();
  bool mine = on_lane;  // the lane that is here takes one itself
  for (const NodeRef& one : next) {
    if (--one->waits_for_ != 0) continue;
    ready_.push_back(one);
    if (!std::exchange(mine, false)) wake_lane();
  }
}

void Scheduler::serve(unsigned number) {
  Lane lane;
  lane.number = number;
  auto encoder = loader::Encoder::create(device_);
  if (!encoder) {
    std::fprintf(stderr, "smelt: no encoder for a device that is open: %s\n", encoder.error().message.c_str());
    std::abort();
  }
  lane.encoder = std::move(*encoder);
  Lock held = lock();
  for (;;) {
    ++idle_;
    wake_.wait(held, [&] { return !ready_.empty(); });
    --idle_;
    NodeRef node = std::move(ready_.front());
    ready_.pop_front();
    held.unlock();
    const bool done = node->run(lane);
    held.lock();
    if (done) finish_locked(node, true);
    // What the node kept goes without the lock: it may be the last owner of anything.
    held.unlock();
    node.reset();
    held.lock();
  }
}

}  // namespace smelt::metal
