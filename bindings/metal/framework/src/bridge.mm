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
  return out(core_->description());
}
@end

namespace smelt::framework {

namespace {
/// Programs see "MTLBuffer" as a protocol; the class that carries it out has Smelt in front.
Class class_for(const NS::Object* core) {
  std::string name(core->class_name());
  if (name == "MTLBinding") switch (static_cast<const MTL::Binding*>(core)->type()) {
      case MTL::BindingTypeBuffer:
        name = "MTLBufferBinding";
        break;
      case MTL::BindingTypeThreadgroupMemory:
        name = "MTLThreadgroupBinding";
        break;
      case MTL::BindingTypeTexture:
      case MTL::BindingTypeSampler:
      case MTL::BindingTypeVisibleFunctionTable:
        break;
    }
  if (const Class known = objc_lookUpClass(("Smelt" + name).c_str())) return known;
  if (const Class known = objc_lookUpClass(name.c_str())) return known;
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

NSString* out(NS::String* string) {
  if (string == nullptr) return nil;
  const std::string& bytes = string->text();
  return [[[NSString alloc] initWithBytes:bytes.data() length:bytes.size() encoding:NSUTF8StringEncoding] autorelease];
}
const NS::String* in(NSString* string) {
  if (string == nil) return nullptr;
  NSData* bytes = [string dataUsingEncoding:NSUTF8StringEncoding];
  return NS::String::alloc()
      ->init(const_cast<void*>(bytes.bytes), bytes.length, NS::UTF8StringEncoding, false)
      ->autorelease();
}
NS::URL* in(NSURL* url) {
  return url != nil ? NS::URL::fileURLWithPath(in(url.path)) : nullptr;
}
NSURL* out(NS::URL* url) {
  return url != nullptr ? [NSURL fileURLWithPath:out(url->path())] : nil;
}
NS::Bundle* in(NSBundle* bundle) {
  return NS::Bundle::bundle(in(bundle.bundlePath));
}
NS::Data* in(dispatch_data_t data) {
  const void* bytes = nullptr;
  size_t length = 0;
  dispatch_data_t mapped = dispatch_data_create_map(data, &bytes, &length);
  NS::Data* copied = NS::Data::data(bytes, length);
  dispatch_release(mapped);
  return copied;
}

namespace {
/// Text, a number, an array, a dictionary, or the object's Objective-C object.
id value(NS::Object* object) {
  if (object == nullptr) return nil;
  const std::string_view name = object->class_name();
  if (name == "NSString") return out(static_cast<NS::String*>(object));
  if (name == "NSArray") return out(static_cast<NS::Array*>(object));
  if (name == "NSDictionary") return out(static_cast<NS::Dictionary*>(object));
  if (name == "NSNumber") {
    const auto* number = static_cast<NS::Number*>(object);
    const long long whole = number->longLongValue();
    return static_cast<double>(whole) == number->doubleValue() ? @(whole) : @(number->doubleValue());
  }
  return give(object);
}
}  // namespace

NSArray* out(NS::Array* array) {
  if (array == nullptr) return nil;
  NSMutableArray* made = [NSMutableArray array];
  for (NS::UInteger i = 0; i < array->count(); ++i) [made addObject:value(array->object(i))];
  return [[made copy] autorelease];
}

namespace {
NS::Object* core_value(id object) {
  if ([object isKindOfClass:[NSString class]]) return const_cast<NS::String*>(in(static_cast<NSString*>(object)));
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
  if ([object isKindOfClass:[NSArray class]]) return in(static_cast<NSArray*>(object));
  if ([object isKindOfClass:[NSDictionary class]]) return in(static_cast<NSDictionary*>(object));
  return core<NS::Object>(object);
}
}  // namespace

NS::Array* in(NSArray* array) {
  if (array == nil) return nullptr;
  std::vector<const NS::Object*> objects;
  for (id object in array) objects.push_back(core_value(object));
  return NS::Array::array(objects.data(), objects.size());
}

NSDictionary* out(NS::Dictionary* from) {
  if (from == nullptr) return nil;
  NSMutableDictionary* made = [NSMutableDictionary dictionary];
  const NS::Array* keys = from->allKeys();
  for (NS::UInteger i = 0; i < keys->count(); ++i) made[value(keys->object(i))] = value(from->object(keys->object(i)));
  return [[made copy] autorelease];
}
NS::Dictionary* in(NSDictionary* from) {
  if (from == nil) return nullptr;
  std::vector<const NS::Object*> objects, keys;
  for (id key in from) {
    keys.push_back(core_value(key));
    objects.push_back(core_value([from objectForKey:key]));
  }
  return NS::Dictionary::dictionary(objects.data(), keys.data(), keys.size());
}

NSError* out(NS::Error* error) {
  if (error == nullptr) return nil;
  return [NSError errorWithDomain:out(error->domain()) code:error->code() userInfo:out(error->userInfo())];
}

}  // namespace smelt::framework
