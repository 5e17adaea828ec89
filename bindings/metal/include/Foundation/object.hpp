// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The root of all objects of this library, and who owns them.
//
// Ownership is Foundation's: what a function whose name begins with alloc, new, copy, mutableCopy or Create gives
// belongs to the caller, who calls release() once; everything else belongs to the innermost AutoreleasePool of the
// thread, and who keeps it calls retain(). Text and shapes of names are those of Apple's documentation of Foundation
// (developer.apple.com/documentation/foundation), spelt as metal-cpp spells them: NSString is NS::String.
//
// Threads: retain, release and autorelease from any thread. Objects that are immutable after they were made may be read
// from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#define SMELT_METAL_API __attribute__((visibility("default")))

namespace NS {

using Integer = std::intptr_t;
using UInteger = std::uintptr_t;
using TimeInterval = double;
constexpr Integer IntegerMax = INTPTR_MAX;
constexpr Integer IntegerMin = INTPTR_MIN;
constexpr UInteger UIntegerMax = UINTPTR_MAX;

enum ComparisonResult : Integer { OrderedAscending = -1, OrderedSame = 0, OrderedDescending = 1 };
constexpr Integer NotFound = IntegerMax;

struct Range {
  UInteger location = 0;
  UInteger length = 0;
  Range() = default;
  Range(UInteger at, UInteger count) : location(at), length(count) {}
  static Range Make(UInteger location, UInteger length) { return {location, length}; }
  bool Equal(const Range& other) const { return location == other.location && length == other.length; }
  bool LocationInRange(UInteger at) const { return at >= location && at - location < length; }
  UInteger Max() const { return location + length; }
};

class String;

/// Counts its owners; the last release() destroys it. Made by the library alone.
class SMELT_METAL_API Object {
 public:
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  Object* retain();
  void release();
  Object* autorelease();
  UInteger retainCount() const;
  /// For weak references: false, and no owner more, once the last one has gone.
  bool retain_if_alive();

  UInteger hash() const { return hash_value(); }
  bool isEqual(const Object* other) const { return this == other || (other != nullptr && equals(*other)); }
  String* description() const;
  String* debugDescription() const;

  // For the library, and for what is layered on it (Objective-C classes).
  /// "MTLBuffer": the documented name of the class or protocol.
  virtual std::string_view class_name() const = 0;
  /// One word for the layer above, e.g. its own object for this one; 0 at first. Set once: gives what is there in the
  /// end. `dropped` is called when this object is destroyed.
  void* companion() const { return companion_.load(std::memory_order_acquire); }
  void* set_companion(void* value, void (*dropped)(void*));

 protected:
  Object() = default;
  virtual ~Object();
  virtual UInteger hash_value() const;
  virtual bool equals(const Object& other) const;
  virtual String* describe() const;

 private:
  std::atomic<UInteger> owners_{1};
  std::atomic<void*> companion_{nullptr};
  std::atomic<void (*)(void*)> dropped_{nullptr};
};

/// Gives retain() and autorelease() the class's own type.
template <class Class, class Base = Object>
class Referencing : public Base {
 public:
  Class* retain() {
    this->Object::retain();
    return static_cast<Class*>(this);
  }
  Class* autorelease() {
    this->Object::autorelease();
    return static_cast<Class*>(this);
  }
};

template <class Class, class Base = Object>
class Copying : public Referencing<Class, Base> {
 public:
  /// Owned by the caller. Immutable objects give themselves.
  Class* copy() const { return static_cast<Class*>(const_cast<Copying*>(this)->make_copy()); }

 protected:
  virtual Object* make_copy() {
    this->Object::retain();
    return this;
  }
};

template <class Class, class Base = Object>
class SecureCoding : public Referencing<Class, Base> {};

/// A scope for objects that nobody owns: they are released with it. Pools of a thread lie in each other, and a pool
/// belongs to the thread that made it. A thread has one of its own, which is emptied when it ends.
class SMELT_METAL_API AutoreleasePool : public Referencing<AutoreleasePool> {
 public:
  static AutoreleasePool* alloc();
  AutoreleasePool* init();
  /// The same as release().
  void drain();
  void addObject(Object* object);
  /// To stderr: how many objects each pool of this thread holds.
  static void showPools();
};

/// Owns one object. retain() in copying, release() at its end.
template <class Class>
class SharedPtr {
 public:
  SharedPtr() = default;
  SharedPtr(std::nullptr_t) {}
  SharedPtr(const SharedPtr& other) : object_(other.object_) { keep(); }
  SharedPtr(SharedPtr&& other) noexcept : object_(other.object_) { other.object_ = nullptr; }
  template <class Other>
  SharedPtr(const SharedPtr<Other>& other) : object_(other.get()) {
    keep();
  }
  template <class Other>
  SharedPtr(SharedPtr<Other>&& other) : object_(other.get()) {
    other.detach();
  }
  ~SharedPtr() { drop(); }
  SharedPtr& operator=(SharedPtr other) noexcept {
    Class* const mine = object_;
    object_ = other.object_;
    other.object_ = mine;
    return *this;
  }
  Class* get() const { return object_; }
  Class* operator->() const { return object_; }
  Class& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  void reset() {
    drop();
    object_ = nullptr;
  }
  /// Forgets the object without a release().
  void detach() { object_ = nullptr; }
  friend bool operator==(const SharedPtr& a, const SharedPtr& b) { return a.object_ == b.object_; }

 private:
  template <class T>
  friend SharedPtr<T> TransferPtr(T* object);
  void keep() {
    if (object_ != nullptr) object_->retain();
  }
  void drop() {
    if (object_ != nullptr) object_->release();
  }
  Class* object_ = nullptr;
};

/// Takes over the caller's ownership of what an alloc, new, copy or Create gave.
template <class Class>
SharedPtr<Class> TransferPtr(Class* object) {
  SharedPtr<Class> pointer;
  pointer.object_ = object;
  return pointer;
}

/// Becomes one owner more.
template <class Class>
SharedPtr<Class> RetainPtr(Class* object) {
  if (object != nullptr) object->retain();
  return TransferPtr(object);
}

}  // namespace NS
