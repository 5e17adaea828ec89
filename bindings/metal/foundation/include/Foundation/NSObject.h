/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The root class. Any thread may retain and release any object; what else a thread may do, each class says. A class
 * that says nothing is safe to read from many threads, and to change from one. */
#pragma once

#import <Foundation/NSObjCRuntime.h>

@class NSString, NSMethodSignature, NSInvocation;
typedef struct _NSZone NSZone;

@protocol NSObject
- (BOOL)isEqual:(id)object;
@property(readonly) NSUInteger hash;
@property(readonly) Class superclass;
- (Class)class;
- (instancetype)self;
- (id)performSelector:(SEL)selector;
- (id)performSelector:(SEL)selector withObject:(id)object;
- (id)performSelector:(SEL)selector withObject:(id)object withObject:(id)other;
- (BOOL)isProxy;
- (BOOL)isKindOfClass:(Class)of;
- (BOOL)isMemberOfClass:(Class)of;
- (BOOL)conformsToProtocol:(Protocol*)protocol;
- (BOOL)respondsToSelector:(SEL)selector;
- (instancetype)retain;
- (oneway void)release;
- (instancetype)autorelease;
- (NSUInteger)retainCount;
@property(readonly, copy) NSString* description;
@optional
@property(readonly, copy) NSString* debugDescription;
@end

@protocol NSCopying
- (id)copyWithZone:(NSZone*)zone;
@end
@protocol NSMutableCopying
- (id)mutableCopyWithZone:(NSZone*)zone;
@end
@protocol NSCoding
@end
@protocol NSSecureCoding <NSCoding>
@end

NS_ROOT_CLASS @interface NSObject<NSObject> { Class isa; }
+ (void)load;
+ (void)initialize;
- (instancetype)init;
+ (instancetype)new;
+ (instancetype)alloc;
+ (instancetype)allocWithZone:(NSZone*)zone;
- (void)dealloc;
- (id)copy;
- (id)mutableCopy;
+ (Class)class;
+ (Class)superclass;
+ (BOOL)isSubclassOfClass:(Class)of;
+ (BOOL)instancesRespondToSelector:(SEL)selector;
+ (BOOL)conformsToProtocol:(Protocol*)protocol;
+ (IMP)instanceMethodForSelector:(SEL)selector;
- (IMP)methodForSelector:(SEL)selector;
/** Throws NSInvalidArgumentException. */
- (void)doesNotRecognizeSelector:(SEL)selector;
- (id)forwardingTargetForSelector:(SEL)selector;
+ (BOOL)resolveClassMethod:(SEL)selector;
+ (BOOL)resolveInstanceMethod:(SEL)selector;
+ (NSString*)description;
@end

@interface Protocol : NSObject
@property(readonly) const char* name;
@end

#if __has_feature(objc_arc)
#define CFBridgingRetain(object) ((__bridge_retained CFTypeRef)(object))
#define CFBridgingRelease(object) ((__bridge_transfer id)(object))
#endif
typedef const void* CFTypeRef;
FOUNDATION_EXPORT CFTypeRef CFRetain(CFTypeRef object);
FOUNDATION_EXPORT void CFRelease(CFTypeRef object);
