// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queues and command buffers as they are kept.
//
// A command buffer is encoded by one thread; commit() hands it to its queue, which turns it into nodes when all those
// that were enqueued before it have been committed. Its last node is the end: it follows all its nodes and the end of
// the command buffer before it, so command buffers of a queue complete in order.
#pragma once

#include "smelt/base/trace.hpp"

#include "Metal/MTLCommandQueue.hpp"
#include "caller.hpp"
#include "commands.hpp"

#include <deque>
#include <unordered_set>

namespace smelt::metal {

class QueueObject;

class CommandBufferObject final : public MTL::CommandBuffer {
 public:
  ~CommandBufferObject() override;
  std::string_view class_name() const override { return "MTLCommandBuffer"; }

  // ---- encoding; one thread ----

  /// Whether commands may still be added; says what is wrong if not.
  bool may_encode(const char* call);
  /// Keeps an object until the command buffer has completed.
  void keep(NS::Object* object);
  /// The same for what a command buffer with unretained references does not keep.
  void keep_resource(NS::Object* object) {
    if (retains) keep(object);
  }
  /// A misuse that was reported and is to be this command buffer's error.
  void reject(const std::string& line);

  NS::SharedPtr<QueueObject> queue;
  bool retains = true;
  MTL::CommandBufferErrorOption error_options = MTL::CommandBufferErrorOptionNone;
  Label label;
  CommandList list;
  MTL::CommandEncoder* open_encoder = nullptr;  // not owned
  std::vector<MTL::CommandBufferHandler> scheduled_handlers, completed_handlers;
  std::vector<std::string> debug_groups;

  // ---- running; any thread ----

  void mark_scheduled();
  /// Of a node that ran: its times, and what went wrong.
  void note_run(TraceClock::time_point start, TraceClock::time_point end);
  void fail(MTL::CommandBufferError code, const std::string& message);
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  /// All nodes are done.
  void complete();

  mutable std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  MTL::CommandBufferStatus status = MTL::CommandBufferStatusNotEnqueued;
  bool handlers_done = false;
  bool was_scheduled = false;
  NS::SharedPtr<NS::Error> error;
  TraceClock::time_point committed, scheduled, gpu_start, gpu_end;

 private:
  std::atomic<bool> failed_{false};
  std::unordered_set<NS::Object*> kept_;
};

class QueueObject final : public MTL::CommandQueue {
 public:
  explicit QueueObject(DeviceObject& on);
  std::string_view class_name() const override { return "MTLCommandQueue"; }

  void enqueue(CommandBufferObject& buffer);
  void commit(CommandBufferObject& buffer);

  DeviceObject& device;
  Label label;
  Caller handlers;

 private:
  struct Building;
  void submit(CommandBufferObject& buffer);
  void add_pass(Building& building, size_t step);
  void add_event(Building& building, size_t step);
  void add_node(Building& building, const NodeRef& node);

  std::mutex mutex_;                                      // guards the order, and submit() as a whole
  std::deque<NS::SharedPtr<CommandBufferObject>> order_;  // enqueued, not yet submitted

  // Guarded by the scheduler's lock.
  HazardTable hazards_;
  uint64_t passes_ = 0;
  NodeRef gate_;               // what waits for an event holds back everything after it
  NodeRef last_end_;           // of the command buffer before
  NodeRef last_signal_;        // follows everything before it
  std::vector<NodeRef> open_;  // since then
};

inline CommandBufferObject& from(const MTL::CommandBuffer* buffer) {
  return const_cast<CommandBufferObject&>(static_cast<const CommandBufferObject&>(*buffer));
}
inline QueueObject& from(const MTL::CommandQueue* queue) {
  return const_cast<QueueObject&>(static_cast<const QueueObject&>(*queue));
}

}  // namespace smelt::metal
