// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fences between passes, of one queue or several; events between queues; shared events between queues and threads.
// A pass that waits for a fence waits for the latest update that was committed before it.
#pragma once

#include "Metal/types.hpp"

namespace MTL {

class SMELT_METAL_API Fence : public NS::Referencing<Fence> {
 public:
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);
};

/// A number that only grows.
class SMELT_METAL_API Event : public NS::Referencing<Event> {
 public:
  /// Null for a shared event of no device.
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);
};

class SMELT_METAL_API SharedEventHandle : public NS::Referencing<SharedEventHandle> {
 public:
  NS::String* label() const;
};

/// Calls what waits for shared events, on a thread of its own.
class SMELT_METAL_API SharedEventListener : public NS::Referencing<SharedEventListener> {
 public:
  static SharedEventListener* sharedListener();
  static SharedEventListener* alloc();
  SharedEventListener* init();
  /// The queue is kept for dispatchQueue(); blocks are called on the listener's own thread all the same.
  SharedEventListener* init(const dispatch_queue_t dispatchQueue);
  dispatch_queue_t dispatchQueue() const;
};

/// Threads: every function from any thread.
class SMELT_METAL_API SharedEvent : public NS::Referencing<SharedEvent, Event> {
 public:
  uint64_t signaledValue() const;
  void setSignaledValue(uint64_t value);
  /// Called once, when the value is at least `value`.
  void notifyListener(const SharedEventListener* listener, uint64_t value, const SharedEventNotificationBlock& block);
  /// False: it took longer.
  bool waitUntilSignaledValue(uint64_t value, uint64_t milliseconds);
  /// For newSharedEvent(handle), in this process.
  SharedEventHandle* newSharedEventHandle();
};

}  // namespace MTL
