// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Metal/MTLEvent.hpp"
#include "Metal/MTLFence.hpp"
#include "device_object.hpp"
#include "foundation/made.hpp"

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>

namespace smelt::metal {

class FenceObject final : public MTL::Fence {
 public:
  std::string_view class_name() const override { return "MTLFence"; }
  DeviceObject* device = nullptr;
  Label label;
  NodeRef updated;  ///< the last pass, in order of commits, that updates it; guarded by the scheduler's lock
};

/// The number of an event, and who waits for it. Shared by an event and those made from its handle.
class EventState {
 public:
  uint64_t value() const;
  /// Calls whom it lets go, after its lock is released. The number never becomes less.
  void raise(uint64_t value);
  /// Calls `then` once the value is reached: now, on this thread, or later, on the thread that raises it.
  void when(uint64_t value, std::function<void()> then);
  bool wait(uint64_t value, uint64_t milliseconds);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t value_ = 0;
  std::multimap<uint64_t, std::function<void()>> waiting_;
};

/// Of events and shared events.
class EventObject : public MTL::SharedEvent {
 public:
  explicit EventObject(DeviceObject* on, bool shared) : device(on), shared_(shared) {}
  std::string_view class_name() const override { return shared_ ? "MTLSharedEvent" : "MTLEvent"; }
  bool is_shared() const { return shared_; }
  DeviceObject* const device;
  Label label;
  std::shared_ptr<EventState> state = std::make_shared<EventState>();

 private:
  const bool shared_;
};

inline FenceObject& from(const MTL::Fence* fence) {
  return const_cast<FenceObject&>(static_cast<const FenceObject&>(*fence));
}
inline EventObject& from(const MTL::Event* event) {
  return const_cast<EventObject&>(static_cast<const EventObject&>(*event));
}

}  // namespace smelt::metal
