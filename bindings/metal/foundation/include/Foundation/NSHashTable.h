/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#import <Foundation/NSSet.h>

typedef NS_OPTIONS(NSUInteger, NSPointerFunctionsOptions) {
  NSPointerFunctionsStrongMemory = 0,
  NSPointerFunctionsWeakMemory = 5,
  NSPointerFunctionsObjectPersonality = 0,
  NSPointerFunctionsObjectPointerPersonality = 1 << 9,
};
typedef NSUInteger NSHashTableOptions;
static const NSHashTableOptions NSHashTableStrongMemory = NSPointerFunctionsStrongMemory;
static const NSHashTableOptions NSHashTableWeakMemory = NSPointerFunctionsWeakMemory;
static const NSHashTableOptions NSHashTableObjectPointerPersonality = NSPointerFunctionsObjectPointerPersonality;

/* A set whose objects may be weak: one that goes is no longer in it. Objects are the same when they are equal, or with
 * NSHashTableObjectPointerPersonality when they are one. */
@interface NSHashTable<ObjectType> : NSObject <NSCopying, NSFastEnumeration>
+ (NSHashTable<ObjectType>*)weakObjectsHashTable;
+ (NSHashTable<ObjectType>*)hashTableWithOptions:(NSPointerFunctionsOptions)options;
- (instancetype)initWithOptions:(NSPointerFunctionsOptions)options capacity:(NSUInteger)capacity;
/* Counts only objects that still exist. */
@property(readonly) NSUInteger count;
@property(readonly, copy) NSArray<ObjectType>* allObjects;
@property(readonly, nonatomic) ObjectType anyObject;
@property(readonly, copy) NSSet<ObjectType>* setRepresentation;
- (ObjectType)member:(ObjectType)object;
- (BOOL)containsObject:(ObjectType)object;
- (void)addObject:(ObjectType)object;
- (void)removeObject:(ObjectType)object;
- (void)removeAllObjects;
- (NSEnumerator<ObjectType>*)objectEnumerator;
@end
