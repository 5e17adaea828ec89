// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSObject, protocols and blocks as objects, pools.
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "internal.hpp"

using namespace smelt::foundation;

extern "C" id objc_autorelease_fast_np(id object);

@implementation NSObject
+ (void)load {
}
+ (void)initialize {
}
+ (instancetype)alloc {
  return class_createInstance(self, 0);
}
+ (instancetype)allocWithZone:(NSZone*)zone {
  return [self alloc];
}
+ (instancetype)new {
  return [[self alloc] init];
}
- (instancetype)init {
  return self;
}
- (void)dealloc {
  object_dispose(self);
}
- (id)copy {
  return [(id<NSCopying>)self copyWithZone:nullptr];
}
- (id)mutableCopy {
  return [(id<NSMutableCopying>)self mutableCopyWithZone:nullptr];
}
+ (id)copyWithZone:(NSZone*)zone {
  return self;
}
+ (Class)class {
  return self;
}
+ (Class)superclass {
  return class_getSuperclass(self);
}
+ (BOOL)isSubclassOfClass:(Class)of {
  for (Class one = self; one; one = class_getSuperclass(one))
    if (one == of) return YES;
  return NO;
}
+ (BOOL)instancesRespondToSelector:(SEL)selector {
  return class_respondsToSelector(self, selector);
}
+ (BOOL)conformsToProtocol:(Protocol*)protocol {
  for (Class one = self; one; one = class_getSuperclass(one))
    if (class_conformsToProtocol(one, protocol)) return YES;
  return NO;
}
+ (IMP)instanceMethodForSelector:(SEL)selector {
  return class_getMethodImplementation(self, selector);
}
+ (NSUInteger)hash {
  return (NSUInteger)self >> 4;
}
+ (BOOL)isEqual:(id)other {
  return self == other;
}
+ (NSString*)description {
  return string_of(class_getName(self));
}
+ (BOOL)resolveClassMethod:(SEL)selector {
  return NO;
}
+ (BOOL)resolveInstanceMethod:(SEL)selector {
  return NO;
}

// The runtime's own way of counting, by the name that it looks for.
- (void)_ARCCompliantRetainRelease {
}
- (instancetype)retain {
  return objc_retain_fast_np(self);
}
- (oneway void)release {
  objc_release_fast_np(self);
}
- (instancetype)autorelease {
  return objc_autorelease_fast_np(self);
}
- (NSUInteger)retainCount {
  return object_getRetainCount_np(self);
}
+ (id)retain {
  return self;
}
+ (oneway void)release {
}
+ (id)autorelease {
  return self;
}
+ (NSUInteger)retainCount {
  return NSUIntegerMax;
}

- (NSUInteger)hash {
  return (NSUInteger)self >> 4;
}
- (BOOL)isEqual:(id)other {
  return self == other;
}
- (Class)class {
  return object_getClass(self);
}
- (Class)superclass {
  return class_getSuperclass(object_getClass(self));
}
- (instancetype)self {
  return self;
}
- (BOOL)isProxy {
  return NO;
}
- (BOOL)isKindOfClass:(Class)of {
  for (Class one = object_getClass(self); one; one = class_getSuperclass(one))
    if (one == of) return YES;
  return NO;
}
- (BOOL)isMemberOfClass:(Class)of {
  return object_getClass(self) == of;
}
- (BOOL)conformsToProtocol:(Protocol*)protocol {
  return [object_getClass(self) conformsToProtocol:protocol];
}
- (BOOL)respondsToSelector:(SEL)selector {
  return class_respondsToSelector(object_getClass(self), selector);
}
- (IMP)methodForSelector:(SEL)selector {
  return class_getMethodImplementation(object_getClass(self), selector);
}
- (id)performSelector:(SEL)selector {
  return ((id(*)(id, SEL))objc_msgSend)(self, selector);
}
- (id)performSelector:(SEL)selector withObject:(id)object {
  return ((id(*)(id, SEL, id))objc_msgSend)(self, selector, object);
}
- (id)performSelector:(SEL)selector withObject:(id)object withObject:(id)other {
  return ((id(*)(id, SEL, id, id))objc_msgSend)(self, selector, object, other);
}
- (id)forwardingTargetForSelector:(SEL)selector {
  return nil;
}
- (void)doesNotRecognizeSelector:(SEL)selector {
  raise(NSInvalidArgumentException, "%c[%s %s]: no such method", class_isMetaClass(object_getClass(self)) ? '+' : '-',
        object_getClassName(self), sel_getName(selector));
}
- (NSString*)description {
  return [NSString stringWithFormat:@"<%s: %p>", object_getClassName(self), self];
}
- (NSString*)debugDescription {
  return [self description];
}
@end

@implementation Protocol
- (const char*)name {
  return protocol_getName(self);
}
- (BOOL)isEqual:(id)other {
  return self == other || ([other isKindOfClass:[Protocol class]] && protocol_isEqual(self, other));
}
- (NSUInteger)hash {
  return strlen(protocol_getName(self));
}
- (instancetype)retain {
  return self;
}
- (oneway void)release {
}
- (instancetype)autorelease {
  return self;
}
@end

// Blocks are of subclasses of this, which the runtime makes.
@interface NSBlock : NSObject
@end
@implementation NSBlock
+ (void)load {
  objc_create_block_classes_as_subclasses_of(self);
}
- (id)copyWithZone:(NSZone*)zone {
  return (id)_Block_copy(self);
}
- (id)copy {
  return (id)_Block_copy(self);
}
- (instancetype)retain {
  return (id)_Block_copy(self);
}
- (oneway void)release {
  _Block_release(self);
}
@end

@implementation NSAutoreleasePool {
  void* pool_;
}
- (instancetype)init {
  pool_ = objc_autoreleasePoolPush();
  return self;
}
- (void)drain {
  [self release];
}
- (instancetype)retain {
  raise(NSInvalidArgumentException, "an autorelease pool cannot be retained");
}
- (instancetype)autorelease {
  raise(NSInvalidArgumentException, "an autorelease pool cannot be autoreleased");
}
- (oneway void)release {
  objc_autoreleasePoolPop(pool_);
  [self dealloc];
}
@end

NSExceptionName const NSGenericException = @"NSGenericException";
NSExceptionName const NSRangeException = @"NSRangeException";
NSExceptionName const NSInvalidArgumentException = @"NSInvalidArgumentException";
NSExceptionName const NSInternalInconsistencyException = @"NSInternalInconsistencyException";
NSExceptionName const NSMallocException = @"NSMallocException";

@implementation NSException
@synthesize name = name_, reason = reason_, userInfo = user_info_;
+ (void)load {
  objc_setEnumerationMutationHandler([](id collection) {
    raise(NSGenericException, "a collection of class '%s' was changed while it was enumerated",
          object_getClassName(collection));
  });
}
+ (NSException*)exceptionWithName:(NSExceptionName)name reason:(NSString*)reason userInfo:(NSDictionary*)info {
  return [[[self alloc] initWithName:name reason:reason userInfo:info] autorelease];
}
+ (void)raise:(NSExceptionName)name format:(NSString*)format, ... {
  va_list list;
  va_start(list, format);
  NSString* reason = format_list(format, list);
  va_end(list);
  [[self exceptionWithName:name reason:reason userInfo:nil] raise];
}
- (instancetype)initWithName:(NSExceptionName)name reason:(NSString*)reason userInfo:(NSDictionary*)info {
  name_ = [name copy];
  reason_ = [reason copy];
  user_info_ = [info copy];
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  return [self retain];
}
- (void)raise {
  @throw self;
}
- (NSString*)description {
  return [NSString stringWithFormat:@"%@: %@", name_, reason_];
}
- (void)dealloc {
  [name_ release];
  [reason_ release];
  [user_info_ release];
  [super dealloc];
}
@end

namespace smelt::foundation {
void raise(NSString* name, const char* format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  @throw [NSException exceptionWithName:name reason:string_of(text) userInfo:nil];
}
}  // namespace smelt::foundation

SEL NSSelectorFromString(NSString* name) { return name ? sel_registerName([name UTF8String]) : nullptr; }
NSString* NSStringFromSelector(SEL selector) { return selector ? string_of(sel_getName(selector)) : nil; }
Class NSClassFromString(NSString* name) { return name ? objc_lookUpClass([name UTF8String]) : Nil; }
NSString* NSStringFromClass(Class of) { return of ? string_of(class_getName(of)) : nil; }
CFTypeRef CFRetain(CFTypeRef object) { return objc_retain((id)object); }
void CFRelease(CFTypeRef object) { objc_release((id)object); }
