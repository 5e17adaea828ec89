/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#import <Foundation/NSDictionary.h>

@interface NSSet<__covariant ObjectType> : NSObject <NSCopying, NSMutableCopying, NSFastEnumeration>
@property(readonly) NSUInteger count;
- (ObjectType)member:(ObjectType)object;
- (BOOL)containsObject:(ObjectType)object;
+ (instancetype)set;
+ (instancetype)setWithObject:(ObjectType)object;
+ (instancetype)setWithObjects:(ObjectType)first, ... NS_REQUIRES_NIL_TERMINATION;
+ (instancetype)setWithArray:(NSArray<ObjectType>*)array;
- (instancetype)initWithObjects:(const ObjectType __unsafe_unretained[])objects count:(NSUInteger)count;
- (instancetype)initWithArray:(NSArray<ObjectType>*)array;
@property(readonly, copy) NSArray<ObjectType>* allObjects;
@property(readonly) ObjectType anyObject;
- (BOOL)isEqualToSet:(NSSet<ObjectType>*)other;
- (NSEnumerator<ObjectType>*)objectEnumerator;
@end

@interface NSMutableSet<ObjectType> : NSSet <ObjectType>
- (void)addObject:(ObjectType)object;
- (void)removeObject:(ObjectType)object;
- (void)removeAllObjects;
@end
