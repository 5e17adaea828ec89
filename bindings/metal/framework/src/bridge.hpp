// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between the objects of libsmelt-metal, which are C++, and those of Objective-C. Every C++ object has one Objective-C
// object, made when it is first asked for and gone with it; its references are the C++ object's. Text, arrays,
// dictionaries and errors cross by value. Without ARC.
#pragma once
// clang-format off: dispatch's types are those of its own header, which has to come first.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include <objc/objc-arc.h>

#include "Metal/Metal.hpp"

#include <type_traits>
#include <vector>
// clang-format on

@interface SmeltMetalObject () {
 @public
  NS::Object* core_;
}
@end

extern "C" id objc_autorelease_fast_np(id object);

namespace smelt::framework {

/// What the C++ library autoreleases inside lives as long as this.
class Scope {
 public:
  Scope() : pool_(NS::AutoreleasePool::alloc()->init()) {}
  ~Scope() { pool_->release(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  NS::AutoreleasePool* pool_;
};

/// The object's Objective-C object, not retained.
id wrap(const NS::Object* core);
/// The same, autoreleased, for what C++ has autoreleased too.
id give(const NS::Object* core);

template <class Class>
Class* core(id object) {
  return object != nil ? static_cast<Class*>(static_cast<SmeltMetalObject*>(object)->core_) : nullptr;
}
template <class Class>
std::vector<const Class*> cores(const id* objects, NSUInteger count) {
  std::vector<const Class*> all;
  for (NSUInteger i = 0; i < count; ++i) all.push_back(core<Class>(objects[i]));
  return all;
}

// By value; what is C++ is autoreleased in the Scope.
NSString* out(NS::String* string);
NSURL* out(NS::URL* url);
NSArray* out(NS::Array* array);
NSDictionary* out(NS::Dictionary* dictionary);
NSError* out(NS::Error* error);
inline MTLSize out(MTL::Size size) {
  return {size.width, size.height, size.depth};
}
inline MTLSizeAndAlign out(MTL::SizeAndAlign found) {
  return {found.size, found.align};
}

const NS::String* in(NSString* string);
NS::URL* in(NSURL* url);
NS::Bundle* in(NSBundle* bundle);
NS::Data* in(dispatch_data_t data);
NS::Array* in(NSArray* array);
NS::Dictionary* in(NSDictionary* dictionary);
inline MTL::Size in(MTLSize size) {
  return {size.width, size.height, size.depth};
}
inline MTL::Origin in(MTLOrigin origin) {
  return {origin.x, origin.y, origin.z};
}
inline MTL::Region in(MTLRegion region) {
  return {in(region.origin), in(region.size)};
}
inline NS::Range in(NSRange range) {
  return {range.location, range.length};
}

/// Where a C++ function puts an error. When the call has ended, *to is set if there is one.
class ErrorOut {
 public:
  explicit ErrorOut(NSError** to) : to_(to) {}
  ~ErrorOut() {
    if (to_ && found_) *to_ = out(found_);
  }
  ErrorOut(const ErrorOut&) = delete;
  operator NS::Error**() { return &found_; }

 private:
  NSError** const to_;
  NS::Error* found_ = nullptr;
};

/// Where a C++ function puts a further object, if the program wants it.
template <class Core>
class ObjectOut {
 public:
  explicit ObjectOut(id* to) : to_(to) {}
  ~ObjectOut() {
    if (to_) *to_ = give(found_);
  }
  ObjectOut(const ObjectOut&) = delete;
  operator Core* const*() { return to_ ? &found_ : nullptr; }

 private:
  id* const to_;
  Core* found_ = nullptr;
};

/// Converts an argument of a C++ handler to the argument that an Objective-C handler takes.
template <class Value>
auto handed(Value value) {
  if constexpr (std::is_convertible_v<Value, NS::Error*>)
    return out(value);
  else if constexpr (std::is_convertible_v<Value, const NS::Object*>)
    return wrap(value);
  else
    return value;
}

template <class Callback>
struct Handler;
template <class... Core>
struct Handler<MTL::Callback<void(Core...)>> {
  template <class... Object>
  static MTL::Callback<void(Core...)> of(void (^handler)(Object...)) {
    if (handler == nil) return {};
    void (^copied)(Core...) = ^(Core... arguments) {
      @autoreleasepool {
        handler(handed(arguments)...);
      }
    };
    return copied;
  }
};
/// A block as a callback of the C++ library.
template <class Callback, class Block>
Callback as_callback(Block block) {
  return Handler<Callback>::of(block);
}
/// The same, called on the listener's queue if it has one.
MTL::SharedEventNotificationBlock notification(MTLSharedEventListener* listener, MTLSharedEventNotificationBlock block);

}  // namespace smelt::framework
