// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs keep few objects in such tables, so each search goes through all of them.
#include <list>

#include "internal.hpp"

using namespace smelt::foundation;

@implementation NSHashTable {
  std::list<id> slots_;  // a list, because the runtime keeps the address of a weak slot to clear it
  NSPointerFunctionsOptions options_;
}
+ (NSHashTable*)weakObjectsHashTable {
  return [self hashTableWithOptions:NSHashTableWeakMemory];
}
+ (NSHashTable*)hashTableWithOptions:(NSPointerFunctionsOptions)options {
  return [[[self alloc] initWithOptions:options capacity:0] autorelease];
}
- (instancetype)initWithOptions:(NSPointerFunctionsOptions)options capacity:(NSUInteger)capacity {
  options_ = options;
  return self;
}
- (BOOL)smelt_isWeak {
  return (options_ & 0xFF) == NSPointerFunctionsWeakMemory;
}
// Returns the object retained, or nil if it no longer exists.
- (id)smelt_take:(id*)slot {
  return [self smelt_isWeak] ? objc_loadWeakRetained(slot) : [*slot retain];
}
- (void)smelt_clear:(id*)slot {
  if ([self smelt_isWeak])
    objc_destroyWeak(slot);
  else
    [*slot release];
}
- (NSArray*)allObjects {
  NSMutableArray* all = [NSMutableArray array];
  for (id& slot : slots_) {
    id object = [self smelt_take:&slot];
    if (object) [all addObject:object];
    [object release];
  }
  return all;
}
- (NSUInteger)count {
  return self.allObjects.count;
}
- (id)anyObject {
  return self.allObjects.firstObject;
}
- (NSSet*)setRepresentation {
  return [NSSet setWithArray:self.allObjects];
}
- (id)member:(id)wanted {
  const BOOL by_pointer = (options_ & NSHashTableObjectPointerPersonality) != 0;
  for (id object in self.allObjects)
    if (object == wanted || (!by_pointer && [object isEqual:wanted])) return object;
  return nil;
}
- (BOOL)containsObject:(id)object {
  return [self member:object] != nil;
}
- (void)addObject:(id)object {
  if (!object || [self containsObject:object]) return;
  // Objects that no longer exist give up their slots here, so that the table does not grow without bound.
  for (auto slot = slots_.begin(); slot != slots_.end();) {
    id there = [self smelt_take:&*slot];
    if (there) {
      [there release];
      ++slot;
      continue;
    }
    [self smelt_clear:&*slot];
    slot = slots_.erase(slot);
  }
  id& slot = slots_.emplace_back(nil);
  if ([self smelt_isWeak])
    objc_initWeak(&slot, object);
  else
    slot = [object retain];
}
- (void)removeObject:(id)object {
  id found = [self member:object];
  for (auto slot = slots_.begin(); found && slot != slots_.end(); ++slot) {
    id there = [self smelt_take:&*slot];
    [there release];
    if (there != found) continue;
    [self smelt_clear:&*slot];
    slots_.erase(slot);
    return;
  }
}
- (void)removeAllObjects {
  for (id& slot : slots_) [self smelt_clear:&slot];
  slots_.clear();
}
- (NSEnumerator*)objectEnumerator {
  return [self.allObjects objectEnumerator];
}
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state
                                  objects:(id __unsafe_unretained[])buffer
                                    count:(NSUInteger)room {
  return [self.allObjects countByEnumeratingWithState:state objects:buffer count:room];
}
- (id)copyWithZone:(NSZone*)zone {
  NSHashTable* made = [[NSHashTable alloc] initWithOptions:options_ capacity:0];
  for (id object in self.allObjects) [made addObject:object];
  return made;
}
- (NSString*)description {
  return self.allObjects.description;
}
- (void)dealloc {
  [self removeAllObjects];
  [super dealloc];
}
@end
