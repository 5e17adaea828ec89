// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdarg>
#include <utility>

#include "collections.hpp"

using namespace smelt::foundation;

namespace smelt::foundation {
// All at once: what a collection holds lies in one piece.
NSUInteger enumerate(NSFastEnumerationState* state, const std::vector<id>& items, unsigned long* changes) {
  if (state->state != 0) return 0;
  state->state = 1;
  state->itemsPtr = const_cast<id*>(items.data());
  state->mutationsPtr = changes;
  return items.size();
}
}  // namespace smelt::foundation

namespace {
void add(NSArray* to, id object) {
  if (!object) raise(NSInvalidArgumentException, "nil cannot be put into an array");
  to->items_.push_back([object retain]);
}
void add_list(NSArray* to, id first, va_list list) {
  for (id object = first; object; object = va_arg(list, id)) add(to, object);
}
void check(NSArray* array, NSUInteger index, NSUInteger end) {
  if (index >= end) raise(NSRangeException, "object %lu of %zu", index, array->items_.size());
}
}  // namespace

@interface SmeltEnumerator : NSEnumerator {
 @public
  NSArray* array_;
  NSUInteger next_;
}
@end
@implementation NSEnumerator
- (id)nextObject {
  return nil;
}
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state
                                  objects:(id __unsafe_unretained[])buffer
                                    count:(NSUInteger)room {
  state->mutationsPtr = &state->extra[0];
  state->itemsPtr = buffer;
  NSUInteger count = 0;
  for (id object; count < room && (object = [self nextObject]);) buffer[count++] = object;
  return count;
}
@end
@implementation SmeltEnumerator
- (id)nextObject {
  return next_ < array_->items_.size() ? array_->items_[next_++] : nil;
}
- (void)dealloc {
  [array_ release];
  [super dealloc];
}
@end

@implementation NSArray
+ (instancetype)array {
  return [[self new] autorelease];
}
+ (instancetype)arrayWithObject:(id)object {
  return [[[self alloc] initWithObjects:&object count:1] autorelease];
}
+ (instancetype)arrayWithObjects:(id)first, ... {
  NSArray* made = [self new];
  va_list list;
  va_start(list, first);
  add_list(made, first, list);
  va_end(list);
  return [made autorelease];
}
+ (instancetype)arrayWithObjects:(const id[])objects count:(NSUInteger)count {
  return [[[self alloc] initWithObjects:objects count:count] autorelease];
}
+ (instancetype)arrayWithArray:(NSArray*)other {
  return [[[self alloc] initWithArray:other] autorelease];
}
- (instancetype)initWithObjects:(id)first, ... {
  va_list list;
  va_start(list, first);
  add_list(self, first, list);
  va_end(list);
  return self;
}
- (instancetype)initWithObjects:(const id[])objects count:(NSUInteger)count {
  for (NSUInteger i = 0; i < count; ++i) add(self, objects[i]);
  return self;
}
- (instancetype)initWithArray:(NSArray*)other {
  for (id object in other) add(self, object);
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  return [self retain];
}
- (id)mutableCopyWithZone:(NSZone*)zone {
  return [[NSMutableArray alloc] initWithArray:self];
}
- (NSUInteger)count {
  return items_.size();
}
- (id)objectAtIndex:(NSUInteger)index {
  check(self, index, items_.size());
  return items_[index];
}
- (id)objectAtIndexedSubscript:(NSUInteger)index {
  return [self objectAtIndex:index];
}
- (id)firstObject {
  return items_.empty() ? nil : items_.front();
}
- (id)lastObject {
  return items_.empty() ? nil : items_.back();
}
- (BOOL)containsObject:(id)object {
  return [self indexOfObject:object] != NSNotFound;
}
- (NSUInteger)indexOfObject:(id)object {
  for (size_t i = 0; i < items_.size(); ++i)
    if (Equal()(items_[i], object)) return i;
  return NSNotFound;
}
- (NSUInteger)indexOfObjectIdenticalTo:(id)object {
  const auto at = std::find(items_.begin(), items_.end(), object);
  return at != items_.end() ? static_cast<NSUInteger>(at - items_.begin()) : NSNotFound;
}
- (BOOL)isEqualToArray:(NSArray*)other {
  return other && std::equal(items_.begin(), items_.end(), other->items_.begin(), other->items_.end(), Equal());
}
- (BOOL)isEqual:(id)other {
  return self == other || ([other isKindOfClass:[NSArray class]] && [self isEqualToArray:other]);
}
- (NSUInteger)hash {
  return items_.size();
}
- (NSArray*)arrayByAddingObject:(id)object {
  NSMutableArray* made = [NSMutableArray arrayWithArray:self];
  [made addObject:object];
  return made;
}
- (NSArray*)arrayByAddingObjectsFromArray:(NSArray*)other {
  NSMutableArray* made = [NSMutableArray arrayWithArray:self];
  [made addObjectsFromArray:other];
  return made;
}
- (NSArray*)subarrayWithRange:(NSRange)range {
  if (range.length != 0) check(self, NSMaxRange(range) - 1, items_.size());
  return [NSArray arrayWithObjects:items_.data() + range.location count:range.length];
}
- (NSString*)componentsJoinedByString:(NSString*)separator {
  std::string text;
  for (size_t i = 0; i < items_.size(); ++i) {
    if (i != 0) text += text_of(separator);
    text += text_of([items_[i] description]);
  }
  return string_of(text);
}
- (NSArray*)sortedArrayUsingComparator:(NS_NOESCAPE NSComparator)compare {
  NSMutableArray* made = [NSMutableArray arrayWithArray:self];
  [made sortUsingComparator:compare];
  return made;
}
- (NSArray*)sortedArrayUsingSelector:(SEL)selector {
  return [self sortedArrayUsingComparator:^(id one, id other) {
    return reinterpret_cast<NSComparisonResult (*)(id, SEL, id)>(reinterpret_cast<void*>(objc_msgSend))(one, selector, other);
  }];
}
- (void)enumerateObjectsUsingBlock:(void (NS_NOESCAPE ^)(id object, NSUInteger index, BOOL* stop))block {
  BOOL stop = NO;
  for (size_t i = 0; i < items_.size() && !stop; ++i) block(items_[i], i, &stop);
}
- (NSEnumerator*)objectEnumerator {
  SmeltEnumerator* made = [[SmeltEnumerator new] autorelease];
  made->array_ = [self copy];
  return made;
}
- (NSEnumerator*)reverseObjectEnumerator {
  NSMutableArray* backwards = [NSMutableArray arrayWithArray:self];
  std::reverse(backwards->items_.begin(), backwards->items_.end());
  return [backwards objectEnumerator];
}
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state
                                  objects:(id __unsafe_unretained[])buffer
                                    count:(NSUInteger)room {
  return enumerate(state, items_, &changes_);
}
- (NSString*)description {
  std::string text = "(";
  for (const id object : items_) text += (text.size() > 1 ? ",\n    " : "\n    ") + std::string(text_of([object description]));
  return string_of(text + "\n)");
}
- (void)dealloc {
  for (const id object : items_) [object release];
  [super dealloc];
}
@end

@implementation NSMutableArray
+ (instancetype)arrayWithCapacity:(NSUInteger)capacity {
  return [[[self alloc] initWithCapacity:capacity] autorelease];
}
- (instancetype)initWithCapacity:(NSUInteger)capacity {
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  return [[NSArray alloc] initWithArray:self];
}
- (void)addObject:(id)object {
  ++changes_;
  add(self, object);
}
- (void)addObjectsFromArray:(NSArray*)other {
  const std::vector<id> all = other ? other->items_ : std::vector<id>();
  for (const id object : all) [self addObject:object];
}
- (void)insertObject:(id)object atIndex:(NSUInteger)index {
  check(self, index, items_.size() + 1);
  [self addObject:object];
  std::rotate(items_.begin() + static_cast<long>(index), items_.end() - 1, items_.end());
}
- (void)replaceObjectAtIndex:(NSUInteger)index withObject:(id)object {
  check(self, index, items_.size());
  if (!object) raise(NSInvalidArgumentException, "nil cannot be put into an array");
  const id before = items_[index];
  items_[index] = [object retain];
  [before release];
}
- (void)setObject:(id)object atIndexedSubscript:(NSUInteger)index {
  if (index == items_.size())
    [self addObject:object];
  else
    [self replaceObjectAtIndex:index withObject:object];
}
- (void)removeObjectAtIndex:(NSUInteger)index {
  check(self, index, items_.size());
  ++changes_;
  const id object = items_[index];
  items_.erase(items_.begin() + static_cast<long>(index));
  [object release];
}
- (void)removeLastObject {
  if (items_.empty()) raise(NSRangeException, "an empty array has no last object");
  [self removeObjectAtIndex:items_.size() - 1];
}
- (void)removeObject:(id)object {
  ++changes_;
  std::vector<id> kept, gone;
  for (const id one : items_) (Equal()(one, object) ? gone : kept).push_back(one);
  items_ = std::move(kept);
  for (const id one : gone) [one release];
}
- (void)removeAllObjects {
  ++changes_;
  const std::vector<id> gone = std::exchange(items_, {});
  for (const id one : gone) [one release];
}
- (void)sortUsingComparator:(NS_NOESCAPE NSComparator)compare {
  ++changes_;
  // std::sort with the place as the last word: std::stable_sort of libstdc++ 12 warns about itself under Clang.
  std::vector<std::pair<id, size_t>> places;
  for (const id object : items_) places.emplace_back(object, places.size());
  std::sort(places.begin(), places.end(), [&](const auto& one, const auto& other) {
    const NSComparisonResult order = compare(one.first, other.first);
    return order != NSOrderedSame ? order < 0 : one.second < other.second;
  });
  for (size_t i = 0; i < places.size(); ++i) items_[i] = places[i].first;
}
@end
