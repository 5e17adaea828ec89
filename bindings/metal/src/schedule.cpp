// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace smelt::metal {
namespace {

constexpr std::chrono::microseconds kLookEvery{250};
constexpr std::chrono::seconds kLongestRest{5};

}  // namespace

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
  if (ready_.size() <= idle_ || threads_.size() == lanes_) {
    wake_.notify_one();
    return;
  }
  try {
    threads_.emplace_back([this, number = static_cast<unsigned>(threads_.size())] { serve(number); });
  } catch (const std::system_error&) {
    // No more threads to be had: those that there are take it, or, without any, the next that is asked for.
    wake_.notify_one();
  }
}

void Scheduler::finish(const NodeRef& node) {
  const Lock held = lock();
  finish_locked(node, false);
}

void Scheduler::finish_locked(const NodeRef& node, bool on_lane) {
  node->done_ = true;
  const std::vector<NodeRef> next = std::move(node->next_);
  node->next_.clear();
  for (const NodeRef& one : next) {
    if (--one->waits_for_ != 0) continue;
    ready_.push_back(one);
    if (!on_lane) wake_lane();
  }
  // A lane takes one itself, and if the others are short it will have done them before anybody has woken up: waking
  // costs as much as a small dispatch. If they are not, the lane that looks around every now and then takes them.
  if (on_lane && ready_.size() > 1 && !looks_) wake_lane();
}

void Scheduler::rest() {
  stopped_ = true;
  Lock held = lock();
  quiet_.wait_for(held, kLongestRest, [&] { return idle_ == threads_.size(); });
}

void Scheduler::sleep(Lock& held) {
  ++idle_;
  if (stopped_) quiet_.notify_all();
  if (!looks_ && idle_ < threads_.size()) {
    looks_ = true;
    wake_.wait_for(held, kLookEvery);
    looks_ = false;
  } else {
    wake_.wait(held);
  }
  --idle_;
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
    while (ready_.empty() || stopped_) sleep(held);
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
