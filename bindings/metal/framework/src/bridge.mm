// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bridge.hpp"

#include <string>

using namespace smelt::framework;

@implementation SmeltMetalObject
- (instancetype)retain {
  core_->retain();
  return self;
}
- (oneway void)release {
  core_->release();
}
- (instancetype)autorelease {
  return objc_autorelease_fast_np(self);
}
- (NSUInteger)retainCount {
  return core_->retainCount();
}
// For weak variables.
- (BOOL)retainWeakReference {
  return core_->retain_if_alive();
}
- (NSString*)description {
  Scope scope;
  return text(core_->description());
}
@end

// Programs see "MTLBuffer" as a protocol; the class that carries it out has this in front.
@interface SmeltMTLBinding : SmeltMetalObject <MTLBinding>
@end
@interface SmeltMTLBufferBinding : SmeltMTLBinding <MTLBufferBinding>
@end
@interface SmeltMTLThreadgroupBinding : SmeltMTLBinding <MTLThreadgroupBinding>
@end

namespace smelt::framework {

namespace {
Class class_for(const NS::Object* core) {
  const std::string_view name = core->class_name();
  if (name == "MTLBinding") switch (static_cast<const MTL::Binding*>(core)->type()) {
      case MTL::BindingTypeBuffer:
        return [SmeltMTLBufferBinding class];
      case MTL::BindingTypeThreadgroupMemory:
        return [SmeltMTLThreadgroupBinding class];
      case MTL::BindingTypeTexture:
      case MTL::BindingTypeSampler:
      case MTL::BindingTypeVisibleFunctionTable:
        return [SmeltMTLBinding class];
    }
  if (const Class known = objc_lookUpClass(("Smelt" + std::string(name)).c_str())) return known;
  if (const Class known = objc_lookUpClass(std::string(name).c_str())) return known;
  return [SmeltMetalObject class];
}
}  // namespace

id wrap(const NS::Object* constant) {
  auto* core = const_cast<NS::Object*>(constant);
  if (core == nullptr) return nil;
  if (void* known = core->companion()) return static_cast<id>(known);
  auto* made = static_cast<SmeltMetalObject*>(class_createInstance(class_for(core), 0));
  made->core_ = core;
  void* const first = core->set_companion(made, [](void* object) { object_dispose(static_cast<id>(object)); });
  if (first != made) object_dispose(made);
  return static_cast<id>(first);
}

id give(const NS::Object* core) {
  return [[wrap(core) retain] autorelease];
}

NSString* text(const NS::String* string) {
  if (string == nullptr) return nil;
  const std::string& bytes = string->text();
  return [[[NSString alloc] initWithBytes:bytes.data() length:bytes.size() encoding:NSUTF8StringEncoding] autorelease];
}
const NS::String* text(NSString* string) {
  if (string == nil) return nullptr;
  NSData* bytes = [string dataUsingEncoding:NSUTF8StringEncoding];
  return NS::String::alloc()
      ->init(const_cast<void*>(bytes.bytes), bytes.length, NS::UTF8StringEncoding, false)
      ->autorelease();
}
NS::URL* url(NSURL* from) {
  return from != nil ? NS::URL::fileURLWithPath(text(from.path)) : nullptr;
}
NSURL* url(const NS::URL* from) {
  return from != nullptr ? [NSURL fileURLWithPath:text(from->path())] : nil;
}

id value(const NS::Object* object) {
  if (object == nullptr) return nil;
  const std::string_view name = object->class_name();
  if (name == "NSString") return text(static_cast<const NS::String*>(object));
  if (name == "NSArray") return array(static_cast<const NS::Array*>(object));
  if (name == "NSDictionary") return dictionary(static_cast<const NS::Dictionary*>(object));
  if (name == "NSNumber") {
    const auto* number = static_cast<const NS::Number*>(object);
    const long long whole = number->longLongValue();
    return static_cast<double>(whole) == number->doubleValue() ? @(whole) : @(number->doubleValue());
  }
  return give(object);
}

NSArray* array(const NS::Array* from) {
  if (from == nullptr) return nil;
  NSMutableArray* made = [NSMutableArray array];
  for (NS::UInteger i = 0; i < from->count(); ++i) [made addObject:value(from->object(i))];
  return [[made copy] autorelease];
}

namespace {
NS::Object* core_value(id object) {
  if ([object isKindOfClass:[NSString class]]) return const_cast<NS::String*>(text(static_cast<NSString*>(object)));
  if ([object isKindOfClass:[NSNumber class]]) {
    NSNumber* number = object;
    switch (*number.objCType) {
      case 'f':
      case 'd':
        return NS::Number::number(number.doubleValue);
      case 'Q':
        return NS::Number::number(number.unsignedLongLongValue);
      default:
        return NS::Number::number(number.longLongValue);
    }
  }
  if ([object isKindOfClass:[NSArray class]]) return array(static_cast<NSArray*>(object));
  if ([object isKindOfClass:[NSDictionary class]]) return dictionary(static_cast<NSDictionary*>(object));
  return core<NS::Object>(object);
}
}  // namespace

NS::Array* array(NSArray* from) {
  if (from == nil) return nullptr;
  std::vector<const NS::Object*> objects;
  for (id object in from) objects.push_back(core_value(object));
  return NS::Array::array(objects.data(), objects.size());
}

NSDictionary* dictionary(const NS::Dictionary* from) {
  if (from == nullptr) return nil;
  NSMutableDictionary* made = [NSMutableDictionary dictionary];
  const NS::Array* keys = from->allKeys();
  for (NS::UInteger i = 0; i < keys->count(); ++i) made[value(keys->object(i))] = value(from->object(keys->object(i)));
  return [[made copy] autorelease];
}
NS::Dictionary* dictionary(NSDictionary* from) {
  if (from == nil) return nullptr;
  std::vector<const NS::Object*> objects, keys;
  for (id key in from) {
    keys.push_back(core_value(key));
    objects.push_back(core_value([from objectForKey:key]));
  }
  return NS::Dictionary::dictionary(objects.data(), keys.data(), keys.size());
}

NSError* error(NS::Error* from) {
  if (from == nullptr) return nil;
  return [NSError errorWithDomain:text(from->domain()) code:from->code() userInfo:dictionary(from->userInfo())];
}

}  // namespace smelt::framework

@implementation SmeltMTLBinding
SMELT_GET_TEXT(MTL::Binding, name)
SMELT_GET(MTL::Binding, MTLBindingType, type)
SMELT_GET(MTL::Binding, MTLBindingAccess, access)
SMELT_GET(MTL::Binding, NSUInteger, index)
SMELT_GET(MTL::Binding, BOOL, isUsed)
SMELT_GET(MTL::Binding, BOOL, isArgument)
@end
@implementation SmeltMTLBufferBinding
SMELT_GET(MTL::BufferBinding, NSUInteger, bufferAlignment)
SMELT_GET(MTL::BufferBinding, NSUInteger, bufferDataSize)
SMELT_GET(MTL::BufferBinding, MTLDataType, bufferDataType)
@end
@implementation SmeltMTLThreadgroupBinding
SMELT_GET(MTL::ThreadgroupBinding, NSUInteger, threadgroupMemoryAlignment)
SMELT_GET(MTL::ThreadgroupBinding, NSUInteger, threadgroupMemoryDataSize)
@end
