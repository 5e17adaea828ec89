// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Metal/Metal.hpp"
#include "caller.hpp"
#include "sync_object.hpp"
#include "validation.hpp"

#include <algorithm>

namespace smelt::metal {

uint64_t EventState::value() const {
  const std::lock_guard guard(mutex_);
  return value_;
}

void EventState::raise(uint64_t value) {
  std::vector<std::function<void()>> free;
  {
    const std::lock_guard guard(mutex_);
    if (value <= value_) return;
    value_ = value;
    const auto end = waiting_.upper_bound(value);
    for (auto one = waiting_.begin(); one != end; ++one) free.push_back(std::move(one->second));
    waiting_.erase(waiting_.begin(), end);
    changed_.notify_all();
  }
  for (const auto& then : free) then();
}

void EventState::when(uint64_t value, std::function<void()> then) {
  {
    const std::lock_guard guard(mutex_);
    if (value_ < value) {
      waiting_.emplace(value, std::move(then));
      return;
    }
  }
  then();
}

bool EventState::wait(uint64_t value, uint64_t milliseconds) {
  std::unique_lock held(mutex_);
  const auto reached = [&] { return value_ >= value; };
  // "For ever" in milliseconds does not fit a clock.
  constexpr uint64_t kLongest = uint64_t{1000} * 3600 * 24 * 365;
  return changed_.wait_for(held, std::chrono::milliseconds(std::min(milliseconds, kLongest)), reached);
}

namespace {

class HandleObject final : public MTL::SharedEventHandle {
 public:
  std::shared_ptr<EventState> state;
  Label label_;
  std::string_view class_name() const override { return "MTLSharedEventHandle"; }
};

class ListenerObject final : public MTL::SharedEventListener {
 public:
  // Shared with what is waiting, so that a listener that was released is not called back into.
  std::shared_ptr<Caller> caller = std::make_shared<Caller>("shared event listener");
  dispatch_queue_t queue = nullptr;
  std::string_view class_name() const override { return "MTLSharedEventListener"; }
};

}  // namespace
}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

Fence* Device::newFence() {
  auto* fence = new FenceObject;
  fence->device = &from(this);
  return fence;
}
Event* Device::newEvent() {
  return new EventObject(&from(this), false);
}
SharedEvent* Device::newSharedEvent() {
  return new EventObject(&from(this), true);
}
SharedEvent* Device::newSharedEvent(const SharedEventHandle* handle) {
  if (handle == nullptr) return misuse("-[MTLDevice newSharedEventWithHandle:]", "handle is null"), nullptr;
  const auto& from_handle = static_cast<const HandleObject&>(*handle);
  auto* event = new EventObject(&from(this), true);
  event->state = from_handle.state;
  event->label = from_handle.label_;
  return event;
}

SMELT_LABEL_AND_DEVICE(Fence, from(this).label, from(this).device)
SMELT_LABEL_AND_DEVICE(Event, from(this).label, from(this).device)
NS::String* SharedEventHandle::label() const {
  return static_cast<const HandleObject*>(this)->label_.get();
}

SharedEventListener* SharedEventListener::sharedListener() {
  static ListenerObject* const listener = new ListenerObject;
  return listener;
}
SharedEventListener* SharedEventListener::alloc() {
  return new ListenerObject;
}
SharedEventListener* SharedEventListener::init() {
  return this;
}
SharedEventListener* SharedEventListener::init(const dispatch_queue_t dispatchQueue) {
  static_cast<ListenerObject*>(this)->queue = dispatchQueue;
  return this;
}
dispatch_queue_t SharedEventListener::dispatchQueue() const {
  return static_cast<const ListenerObject*>(this)->queue;
}

uint64_t SharedEvent::signaledValue() const {
  return from(this).state->value();
}
void SharedEvent::setSignaledValue(uint64_t value) {
  from(this).state->raise(value);
}
void SharedEvent::notifyListener(const SharedEventListener* listener, uint64_t value,
                                 const SharedEventNotificationBlock& block) {
  constexpr const char* kCall = "-[MTLSharedEvent notifyListener:atValue:block:]";
  if (listener == nullptr || !block) {
    misuse(kCall, "{}", listener == nullptr ? "listener is null" : "block is empty");
    return;
  }
  const std::shared_ptr<Caller> caller = static_cast<const ListenerObject*>(listener)->caller;
  from(this).state->when(value, [caller, self = NS::RetainPtr(this), value, block] {
    caller->call([self, value, block] { block(self.get(), value); });
  });
}
bool SharedEvent::waitUntilSignaledValue(uint64_t value, uint64_t milliseconds) {
  return from(this).state->wait(value, milliseconds);
}
SharedEventHandle* SharedEvent::newSharedEventHandle() {
  auto* handle = new HandleObject;
  handle->state = from(this).state;
  handle->label_ = from(this).label;
  return handle;
}

}  // namespace MTL
