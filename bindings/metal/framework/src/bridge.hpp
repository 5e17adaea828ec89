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
NSString* text(const NS::String* string);
const NS::String* text(NSString* string);
NS::URL* url(NSURL* from);
NSURL* url(const NS::URL* from);
id value(const NS::Object* object);  // text, number, array, dictionary, or wrapped
NSArray* array(const NS::Array* from);
NS::Array* array(NSArray* from);
NSDictionary* dictionary(const NS::Dictionary* from);
NS::Dictionary* dictionary(NSDictionary* from);
NSError* error(NS::Error* from);

inline MTL::Size size(MTLSize from) {
  return {from.width, from.height, from.depth};
}
inline MTLSize size(MTL::Size from) {
  return {from.width, from.height, from.depth};
}
inline MTL::Origin origin(MTLOrigin from) {
  return {from.x, from.y, from.z};
}
inline MTL::Region region(MTLRegion from) {
  return {origin(from.origin), size(from.size)};
}
inline NS::Range range(NSRange from) {
  return {from.location, from.length};
}

/// A call with an error at its end: sets *error only where there is one.
template <class Call>
auto with_error(NSError** error, Call call) {
  Scope scope;
  NS::Error* found = nullptr;
  auto made = call(&found);
  if (error && found) *error = smelt::framework::error(found);
  return made;
}

}  // namespace smelt::framework

/// Accessors that hand a value through: name, type of the setter's argument in C++.
#define SMELT_GET(Class, Type, name)                     \
  -(Type)name {                                          \
    return static_cast<Type>(core<Class>(self)->name()); \
  }
#define SMELT_GET_SET(Class, Type, name, Setter, Cpp)   \
  SMELT_GET(Class, Type, name)                          \
  -(void)Setter : (Type)value {                         \
    core<Class>(self)->Setter(static_cast<Cpp>(value)); \
  }
#define SMELT_GET_TEXT(Class, name)         \
  -(NSString*)name {                        \
    Scope scope;                            \
    return text(core<Class>(self)->name()); \
  }
#define SMELT_GET_SET_TEXT(Class, name, Setter) \
  SMELT_GET_TEXT(Class, name)                   \
  -(void)Setter : (NSString*)value {            \
    Scope scope;                                \
    core<Class>(self)->Setter(text(value));     \
  }
#define SMELT_LABEL(Class) SMELT_GET_SET_TEXT(Class, label, setLabel)
#define SMELT_DEVICE(Class)                   \
  -(id<MTLDevice>)device {                    \
    Scope scope;                              \
    return give(core<Class>(self)->device()); \
  }
/// A class that programs make themselves.
#define SMELT_MAKE(Class)                   \
  +(instancetype)alloc {                    \
    return wrap(Class::alloc()->init());    \
  }                                         \
  -(id)copyWithZone : (NSZone*)zone {       \
    return wrap(core<Class>(self)->copy()); \
  }
