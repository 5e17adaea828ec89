// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/trace.hpp"

#include "Metal/Metal.hpp"
#include "holder.hpp"
#include "queue_object.hpp"
#include "sync_object.hpp"
#include "validation.hpp"

namespace smelt::metal {
namespace {

/// Commands of one unit.
class UnitNode final : public Node {
 public:
  UnitNode(CommandBufferObject& buffer, const Step& step, const Unit& unit)
      : buffer_(NS::RetainPtr(&buffer)), step_(step), unit_(unit) {}

  bool run(Lane& lane) override {
    // The node may be remembered for long; the command buffer is not kept by it.
    const NS::SharedPtr<CommandBufferObject> buffer = std::move(buffer_);
    if (unit_.count == 0 || buffer->failed()) return true;
    const auto start = TraceClock::now();
    const CommandList& list = buffer->list;
    lane.encoder->set_pass(step_.concurrent, unit_.barriers);
    for (size_t i = 0; i < unit_.count && !buffer->failed(); ++i) {
      const auto done = run_command(list, list.commands[unit_.first + i], step_.label, lane);
      if (!done) buffer->fail(code_of(done.error().code), done.error().message);
    }
    lane.encoder->set_pass(nullptr, 0);
    buffer->note_run(start, TraceClock::now());
    return true;
  }

 private:
  static MTL::CommandBufferError code_of(Errc code) {
    switch (code) {
      case Errc::buffer_bounds:
        return MTL::CommandBufferErrorPageFault;
      case Errc::cancelled:
        return MTL::CommandBufferErrorTimeout;
      case Errc::out_of_memory:
        return MTL::CommandBufferErrorOutOfMemory;
      default:
        return MTL::CommandBufferErrorInternal;
    }
  }
  NS::SharedPtr<CommandBufferObject> buffer_;
  const Step& step_;
  const Unit& unit_;
};

class SignalNode final : public Node {
 public:
  SignalNode(std::shared_ptr<EventState> event, uint64_t value) : event_(std::move(event)), value_(value) {}
  bool run(Lane&) override {
    event_->raise(value_);
    return true;
  }

 private:
  const std::shared_ptr<EventState> event_;
  const uint64_t value_;
};

class WaitNode final : public Node, public std::enable_shared_from_this<WaitNode> {
 public:
  WaitNode(Scheduler& scheduler, std::shared_ptr<EventState> event, uint64_t value)
      : scheduler_(scheduler), event_(std::move(event)), value_(value) {}
  bool run(Lane&) override {
    event_->when(value_, [self = shared_from_this()] { self->scheduler_.finish(self); });
    return false;
  }

 private:
  Scheduler& scheduler_;
  const std::shared_ptr<EventState> event_;
  const uint64_t value_;
};

class EndNode final : public Node {
 public:
  explicit EndNode(CommandBufferObject& buffer) : buffer_(NS::RetainPtr(&buffer)) {}
  bool run(Lane&) override {
    buffer_->complete();
    buffer_.reset();
    return true;
  }

 private:
  NS::SharedPtr<CommandBufferObject> buffer_;
};

}  // namespace

/// A command buffer on its way to nodes.
struct QueueObject::Building {
  const Scheduler::Lock& lock;
  CommandBufferObject& buffer;
  NodeRef end;
};

QueueObject::QueueObject(DeviceObject& on) : device(on), handlers("handlers of a queue"), hazards_(on.scheduler) {}

void QueueObject::enqueue(CommandBufferObject& buffer) {
  const std::lock_guard guard(mutex_);
  const std::lock_guard own(buffer.mutex);
  if (buffer.status != MTL::CommandBufferStatusNotEnqueued) return;
  buffer.status = MTL::CommandBufferStatusEnqueued;
  order_.push_back(NS::RetainPtr(&buffer));
}

void QueueObject::commit(CommandBufferObject& buffer) {
  enqueue(buffer);
  const std::lock_guard guard(mutex_);
  {
    const std::lock_guard own(buffer.mutex);
    buffer.status = MTL::CommandBufferStatusCommitted;
    buffer.committed = TraceClock::now();
  }
  while (!order_.empty()) {
    const NS::SharedPtr<CommandBufferObject> next = order_.front();
    {
      const std::lock_guard own(next->mutex);
      if (next->status < MTL::CommandBufferStatusCommitted) return;
    }
    order_.pop_front();
    next->mark_scheduled();
    submit(*next);
  }
}

void QueueObject::submit(CommandBufferObject& buffer) {
  const Scheduler::Lock lock = device.scheduler.lock();
  Building building{lock, buffer, std::make_shared<EndNode>(buffer)};
  const std::vector<Step>& steps = buffer.list.steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kind == Step::Kind::pass)
      add_pass(building, i);
    else
      add_event(building, i);
  }
  Scheduler& scheduler = device.scheduler;
  scheduler.follow(lock, building.end, last_end_);
  scheduler.follow(lock, building.end, gate_);
  last_end_ = building.end;
  scheduler.add(lock, building.end);
  std::erase_if(open_, [&](const NodeRef& node) { return scheduler.is_done(lock, node); });
  hazards_.prune(lock);
}

void QueueObject::add_node(Building& building, const NodeRef& node) {
  device.scheduler.follow(building.lock, node, gate_);
  device.scheduler.follow(building.lock, building.end, node);
  open_.push_back(node);
  device.scheduler.add(building.lock, node);
}

void QueueObject::add_pass(Building& building, size_t at) {
  Scheduler& scheduler = device.scheduler;
  const Scheduler::Lock& lock = building.lock;
  const Step& step = building.buffer.list.steps[at];
  const uint64_t pass = ++passes_;
  std::vector<NodeRef> begin;  // what the pass waits for as a whole
  for (const auto& fence : step.waits) begin.push_back(fence->updated);
  NodeRef barrier;
  std::vector<NodeRef> since;  // the barrier
  for (const Unit& unit : step.units) {
    if (unit.after_barrier && !since.empty()) {
      const NodeRef join = std::make_shared<JoinNode>();
      for (const NodeRef& earlier : since) scheduler.follow(lock, join, earlier);
      add_node(building, join);
      barrier = join;
      since.clear();
    }
    const NodeRef node = std::make_shared<UnitNode>(building.buffer, step, unit);
    for (const NodeRef& first : begin) scheduler.follow(lock, node, first);
    scheduler.follow(lock, node, barrier);
    for (const ResourceUse& use : unit.uses) hazards_.use(lock, node, pass, use);
    add_node(building, node);
    since.push_back(node);
  }
  if (step.updates.empty()) return;
  const NodeRef join = std::make_shared<JoinNode>();
  for (const NodeRef& first : begin) scheduler.follow(lock, join, first);
  scheduler.follow(lock, join, barrier);
  for (const NodeRef& earlier : since) scheduler.follow(lock, join, earlier);
  add_node(building, join);
  for (const auto& fence : step.updates) fence->updated = join;
}

void QueueObject::add_event(Building& building, size_t at) {
  Scheduler& scheduler = device.scheduler;
  const Scheduler::Lock& lock = building.lock;
  const Step& step = building.buffer.list.steps[at];
  if (step.kind == Step::Kind::wait) {
    const NodeRef node = std::make_shared<WaitNode>(scheduler, step.event->state, step.value);
    add_node(building, node);
    gate_ = node;
    return;
  }
  const NodeRef node = std::make_shared<SignalNode>(step.event->state, step.value);
  scheduler.follow(lock, node, last_signal_);
  for (const NodeRef& earlier : open_) scheduler.follow(lock, node, earlier);
  open_.clear();
  last_signal_ = node;
  add_node(building, node);
}

}  // namespace smelt::metal

namespace {
using namespace smelt::metal;

struct QueueValues {
  static constexpr std::string_view kClass = "MTLCommandQueueDescriptor";
  NS::UInteger most = 64;
};
struct BufferValues {
  static constexpr std::string_view kClass = "MTLCommandBufferDescriptor";
  bool retains = true;
  MTL::CommandBufferErrorOption errors = MTL::CommandBufferErrorOptionNone;
};

MTL::CommandBuffer* new_command_buffer(QueueObject& queue, bool retains, MTL::CommandBufferErrorOption errors) {
  auto* made = new CommandBufferObject;
  made->queue = NS::RetainPtr(&queue);
  made->retains = retains;
  made->error_options = errors;
  made->autorelease();
  return made;
}

}  // namespace

namespace MTL {

SMELT_DESCRIPTOR(CommandQueueDescriptor, QueueValues)
SMELT_VALUE(CommandQueueDescriptor, NS::UInteger, maxCommandBufferCount, setMaxCommandBufferCount, most)
SMELT_DESCRIPTOR(CommandBufferDescriptor, BufferValues)
SMELT_VALUE(CommandBufferDescriptor, bool, retainedReferences, setRetainedReferences, retains)
SMELT_VALUE(CommandBufferDescriptor, CommandBufferErrorOption, errorOptions, setErrorOptions, errors)

CommandQueue* Device::newCommandQueue() {
  return new QueueObject(from(this));
}
CommandQueue* Device::newCommandQueue(NS::UInteger maxCommandBufferCount) {
  if (maxCommandBufferCount == 0)
    return misuse("-[MTLDevice newCommandQueueWithMaxCommandBufferCount:]", "maxCommandBufferCount is 0"), nullptr;
  return newCommandQueue();
}
CommandQueue* Device::newCommandQueue(const CommandQueueDescriptor* descriptor) {
  if (descriptor == nullptr)
    return misuse("-[MTLDevice newCommandQueueWithDescriptor:]", "descriptor is null"), nullptr;
  return newCommandQueue(descriptor->maxCommandBufferCount());
}

SMELT_LABEL_AND_DEVICE(CommandQueue, from(this).label, &from(this).device)
CommandBuffer* CommandQueue::commandBuffer() {
  return new_command_buffer(from(this), true, CommandBufferErrorOptionNone);
}
CommandBuffer* CommandQueue::commandBuffer(const CommandBufferDescriptor* descriptor) {
  if (descriptor == nullptr)
    return misuse("-[MTLCommandQueue commandBufferWithDescriptor:]", "descriptor is null"), nullptr;
  return new_command_buffer(from(this), descriptor->retainedReferences(), descriptor->errorOptions());
}
CommandBuffer* CommandQueue::commandBufferWithUnretainedReferences() {
  return new_command_buffer(from(this), false, CommandBufferErrorOptionNone);
}

}  // namespace MTL
