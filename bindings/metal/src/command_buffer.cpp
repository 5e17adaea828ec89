// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Metal/Metal.hpp"
#include "compute_encoder.hpp"
#include "queue_object.hpp"
#include "sync_object.hpp"
#include "validation.hpp"

namespace smelt::metal {
namespace {

double seconds(TraceClock::time_point at) {
  return std::chrono::duration<double>(at.time_since_epoch()).count();
}

}  // namespace

CommandBufferObject::~CommandBufferObject() = default;

bool CommandBufferObject::may_encode(const char* call) {
  {
    const std::lock_guard guard(mutex);
    if (status >= MTL::CommandBufferStatusCommitted) {
      misuse(call, "the command buffer was committed already");
      return false;
    }
  }
  if (open_encoder != nullptr) {
    reject(misuse(call, "an encoder of the command buffer is open: endEncoding was not called"));
    return false;
  }
  return true;
}

void CommandBufferObject::keep(NS::Object* object) {
  if (object != nullptr && kept_.insert(object).second) list.kept.push_back(NS::RetainPtr(object));
}

void CommandBufferObject::reject(const std::string& line) {
  fail(MTL::CommandBufferErrorInvalidResource, line);
}

void CommandBufferObject::fail(MTL::CommandBufferError code, const std::string& message) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const std::lock_guard guard(mutex);
  if (error) return;  // the first one counts
  error = NS::RetainPtr(error_of("MTLCommandBufferErrorDomain", static_cast<NS::Integer>(code), message));
  failed_.store(true, std::memory_order_release);
}

void CommandBufferObject::note_run(TraceClock::time_point start, TraceClock::time_point end) {
  const std::lock_guard guard(mutex);
  if (gpu_start == TraceClock::time_point() || start < gpu_start) gpu_start = start;
  if (end > gpu_end) gpu_end = end;
}

void CommandBufferObject::mark_scheduled() {
  {
    const std::lock_guard guard(mutex);
    status = MTL::CommandBufferStatusScheduled;
    scheduled = TraceClock::now();
    was_scheduled = scheduled_handlers.empty();
  }
  changed.notify_all();
  if (scheduled_handlers.empty()) return;
  queue->handlers.call([self = NS::RetainPtr(this)] {
    for (const MTL::CommandBufferHandler& handler : self->scheduled_handlers) handler(self.get());
    self->scheduled_handlers.clear();
    const std::lock_guard guard(self->mutex);
    self->was_scheduled = true;
    self->changed.notify_all();
  });
}

void CommandBufferObject::complete() {
  // Everything that was kept goes before anybody is told, as the program may look at how much memory is left.
  list = {};
  kept_.clear();
  bool has_handlers = false;
  {
    const std::lock_guard guard(mutex);
    if (gpu_start == TraceClock::time_point()) gpu_start = gpu_end = TraceClock::now();
    status = error ? MTL::CommandBufferStatusError : MTL::CommandBufferStatusCompleted;
    has_handlers = !completed_handlers.empty();
    handlers_done = !has_handlers;
    changed.notify_all();
  }
  if (!has_handlers) return;
  queue->handlers.call([self = NS::RetainPtr(this)] {
    for (const MTL::CommandBufferHandler& handler : self->completed_handlers) handler(self.get());
    self->completed_handlers.clear();  // what they hold goes before somebody who waits goes on
    const std::lock_guard guard(self->mutex);
    self->handlers_done = true;
    self->changed.notify_all();
  });
}

}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

SMELT_LABEL_AND_DEVICE(CommandBuffer, from(this).label, &from(this).queue->device)
CommandQueue* CommandBuffer::commandQueue() const {
  return from(this).queue.get();
}
bool CommandBuffer::retainedReferences() const {
  return from(this).retains;
}
CommandBufferErrorOption CommandBuffer::errorOptions() const {
  return from(this).error_options;
}

ComputeCommandEncoder* CommandBuffer::computeCommandEncoder() {
  return computeCommandEncoder(DispatchTypeSerial);
}
ComputeCommandEncoder* CommandBuffer::computeCommandEncoder(DispatchType dispatchType) {
  return begin_compute(from(this), "-[MTLCommandBuffer computeCommandEncoderWithDispatchType:]", dispatchType);
}
ComputeCommandEncoder* CommandBuffer::computeCommandEncoder(const ComputePassDescriptor* descriptor) {
  constexpr const char* kCall = "-[MTLCommandBuffer computeCommandEncoderWithDescriptor:]";
  if (descriptor == nullptr) return misuse(kCall, "descriptor is null"), nullptr;
  return begin_compute(from(this), kCall, descriptor->dispatchType());
}
BlitCommandEncoder* CommandBuffer::blitCommandEncoder() {
  return begin_blit(from(this), "-[MTLCommandBuffer blitCommandEncoder]");
}
BlitCommandEncoder* CommandBuffer::blitCommandEncoder(const BlitPassDescriptor*) {
  return begin_blit(from(this), "-[MTLCommandBuffer blitCommandEncoderWithDescriptor:]");
}

namespace {
void encode_event(CommandBufferObject& buffer, const char* call, Step::Kind kind, const Event* event, uint64_t value) {
  if (!buffer.may_encode(call)) return;
  if (event == nullptr) {
    buffer.reject(misuse(call, "event is null"));
    return;
  }
  if (!from(event).is_shared() && from(event).device != &buffer.queue->device) {
    buffer.reject(misuse(call, "the event is of another device, and not a shared one"));
    return;
  }
  Step& step = buffer.list.steps.emplace_back();
  step.kind = kind;
  step.event = NS::RetainPtr(&from(event));
  step.value = value;
}
}  // namespace

void CommandBuffer::encodeWait(const Event* event, uint64_t value) {
  encode_event(from(this), "-[MTLCommandBuffer encodeWaitForEvent:value:]", Step::Kind::wait, event, value);
}
void CommandBuffer::encodeSignalEvent(const Event* event, uint64_t value) {
  encode_event(from(this), "-[MTLCommandBuffer encodeSignalEvent:value:]", Step::Kind::signal, event, value);
}
void CommandBuffer::pushDebugGroup(const NS::String* name) {
  from(this).debug_groups.push_back(text_of(name));
}
void CommandBuffer::popDebugGroup() {
  CommandBufferObject& buffer = from(this);
  if (buffer.debug_groups.empty())
    buffer.reject(misuse("-[MTLCommandBuffer popDebugGroup]", "no group was pushed"));
  else
    buffer.debug_groups.pop_back();
}

void CommandBuffer::enqueue() {
  from(this).queue->enqueue(from(this));
}
void CommandBuffer::commit() {
  CommandBufferObject& buffer = from(this);
  constexpr const char* kCall = "-[MTLCommandBuffer commit]";
  if (!buffer.may_encode(kCall) && buffer.open_encoder == nullptr) return;
  end_open_encoder(buffer);
  buffer.queue->commit(buffer);
}

namespace {
void add_handler(CommandBufferObject& buffer, const char* call, std::vector<CommandBufferHandler>& to,
                 const CommandBufferHandler& handler) {
  {
    const std::lock_guard guard(buffer.mutex);
    if (buffer.status < CommandBufferStatusCommitted && handler) {
      to.push_back(handler);
      return;
    }
  }
  buffer.reject(misuse(call, "{}", handler ? "the command buffer was committed already" : "the handler is empty"));
}
}  // namespace

void CommandBuffer::addScheduledHandler(const CommandBufferHandler& handler) {
  CommandBufferObject& buffer = from(this);
  add_handler(buffer, "-[MTLCommandBuffer addScheduledHandler:]", buffer.scheduled_handlers, handler);
}
void CommandBuffer::addCompletedHandler(const CommandBufferHandler& handler) {
  CommandBufferObject& buffer = from(this);
  add_handler(buffer, "-[MTLCommandBuffer addCompletedHandler:]", buffer.completed_handlers, handler);
}
void CommandBuffer::waitUntilScheduled() {
  CommandBufferObject& buffer = from(this);
  const bool in_handler = buffer.queue->handlers.is_here();
  std::unique_lock held(buffer.mutex);
  if (buffer.status < CommandBufferStatusCommitted) {
    held.unlock();
    misuse("-[MTLCommandBuffer waitUntilScheduled]", "the command buffer was not committed");
    return;
  }
  buffer.changed.wait(
      held, [&] { return buffer.status >= CommandBufferStatusScheduled && (in_handler || buffer.was_scheduled); });
}
void CommandBuffer::waitUntilCompleted() {
  CommandBufferObject& buffer = from(this);
  const bool in_handler = buffer.queue->handlers.is_here();
  std::unique_lock held(buffer.mutex);
  if (buffer.status < CommandBufferStatusCommitted) {
    held.unlock();
    misuse("-[MTLCommandBuffer waitUntilCompleted]", "the command buffer was not committed");
    return;
  }
  buffer.changed.wait(
      held, [&] { return buffer.status >= CommandBufferStatusCompleted && (in_handler || buffer.handlers_done); });
}
CommandBufferStatus CommandBuffer::status() const {
  const std::lock_guard guard(from(this).mutex);
  return from(this).status;
}
NS::Error* CommandBuffer::error() const {
  const std::lock_guard guard(from(this).mutex);
  return from(this).status == CommandBufferStatusError ? from(this).error.get() : nullptr;
}
double CommandBuffer::kernelStartTime() const {
  const std::lock_guard guard(from(this).mutex);
  return seconds(from(this).committed);
}
double CommandBuffer::kernelEndTime() const {
  const std::lock_guard guard(from(this).mutex);
  return seconds(from(this).scheduled);
}
double CommandBuffer::GPUStartTime() const {
  const std::lock_guard guard(from(this).mutex);
  return from(this).status >= CommandBufferStatusCompleted ? seconds(from(this).gpu_start) : 0;
}
double CommandBuffer::GPUEndTime() const {
  const std::lock_guard guard(from(this).mutex);
  return from(this).status >= CommandBufferStatusCompleted ? seconds(from(this).gpu_end) : 0;
}

}  // namespace MTL
