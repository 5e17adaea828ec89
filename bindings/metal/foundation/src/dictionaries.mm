// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdarg>
#include <utility>

#include "collections.hpp"

using namespace smelt::foundation;

@implementation NSDictionary
- (void)smelt_set:(id)object forKey:(id)key {
  if (!object || !key) raise(NSInvalidArgumentException, "nil cannot be put into a dictionary");
  ++changes_;
  [object retain];
  if (const auto at = places_.find(key); at != places_.end()) {
    [std::exchange(values_[at->second], object) release];
    return;
  }
  const id own = [(id<NSCopying>)key copyWithZone:nullptr];
  places_.emplace(own, keys_.size());
  keys_.push_back(own);
  values_.push_back(object);
}
- (void)smelt_remove:(id)key {
  const auto found = key ? places_.find(key) : places_.end();
  if (found == places_.end()) return;
  ++changes_;
  const size_t at = found->second;
  const id own = keys_[at], value = values_[at];
  places_.erase(found);
  keys_.erase(keys_.begin() + static_cast<long>(at));
  values_.erase(values_.begin() + static_cast<long>(at));
  for (size_t i = at; i < keys_.size(); ++i) --places_[keys_[i]];
  [own release];
  [value release];
}
+ (instancetype)dictionary {
  return [[self new] autorelease];
}
+ (instancetype)dictionaryWithObject:(id)object forKey:(id)key {
  return [self dictionaryWithObjects:&object forKeys:&key count:1];
}
+ (instancetype)dictionaryWithObjects:(NSArray*)objects forKeys:(NSArray*)keys {
  if (objects.count != keys.count) raise(NSInvalidArgumentException, "%lu objects for %lu keys", objects.count, keys.count);
  if (keys.count == 0) return [self dictionary];
  return [self dictionaryWithObjects:objects->items_.data() forKeys:keys->items_.data() count:keys.count];
}
+ (instancetype)dictionaryWithObjects:(const id[])objects forKeys:(const id[])keys count:(NSUInteger)count {
  return [[[self alloc] initWithObjects:objects forKeys:keys count:count] autorelease];
}
+ (instancetype)dictionaryWithObjectsAndKeys:(id)first, ... {
  NSDictionary* made = [self new];
  va_list list;
  va_start(list, first);
  for (id object = first; object; object = va_arg(list, id)) [made smelt_set:object forKey:va_arg(list, id)];
  va_end(list);
  return [made autorelease];
}
+ (instancetype)dictionaryWithDictionary:(NSDictionary*)other {
  return [[[self alloc] initWithDictionary:other] autorelease];
}
- (instancetype)initWithObjects:(const id[])objects forKeys:(const id[])keys count:(NSUInteger)count {
  for (NSUInteger i = 0; i < count; ++i) [self smelt_set:objects[i] forKey:keys[i]];
  return self;
}
- (instancetype)initWithDictionary:(NSDictionary*)other {
  for (id key in other) [self smelt_set:[other objectForKey:key] forKey:key];
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  return [self retain];
}
- (id)mutableCopyWithZone:(NSZone*)zone {
  return [[NSMutableDictionary alloc] initWithDictionary:self];
}
- (NSUInteger)count {
  return keys_.size();
}
- (id)objectForKey:(id)key {
  const auto at = key ? places_.find(key) : places_.end();
  return at != places_.end() ? values_[at->second] : nil;
}
- (id)objectForKeyedSubscript:(id)key {
  return [self objectForKey:key];
}
- (NSArray*)allKeys {
  return [NSArray arrayWithObjects:keys_.data() count:keys_.size()];
}
- (NSArray*)allValues {
  return [NSArray arrayWithObjects:values_.data() count:values_.size()];
}
- (BOOL)isEqualToDictionary:(NSDictionary*)other {
  if (other.count != keys_.size()) return NO;
  for (size_t i = 0; i < keys_.size(); ++i)
    if (id there = [other objectForKey:keys_[i]]; !there || !Equal()(there, values_[i])) return NO;
  return YES;
}
- (BOOL)isEqual:(id)other {
  return self == other || ([other isKindOfClass:[NSDictionary class]] && [self isEqualToDictionary:other]);
}
- (NSUInteger)hash {
  return keys_.size();
}
- (NSEnumerator*)keyEnumerator {
  return [self.allKeys objectEnumerator];
}
- (NSEnumerator*)objectEnumerator {
  return [self.allValues objectEnumerator];
}
- (void)enumerateKeysAndObjectsUsingBlock:(void (NS_NOESCAPE ^)(id key, id object, BOOL* stop))block {
  BOOL stop = NO;
  for (size_t i = 0; i < keys_.size() && !stop; ++i) block(keys_[i], values_[i], &stop);
}
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state
                                  objects:(id __unsafe_unretained[])buffer
                                    count:(NSUInteger)room {
  return enumerate(state, keys_, &changes_);
}
- (NSString*)description {
  std::string text = "{\n";
  for (size_t i = 0; i < keys_.size(); ++i)
    text.append("    ").append(text_of([keys_[i] description])).append(" = ").append(text_of([values_[i] description])) += ";\n";
  return string_of(text + "}");
}
- (void)dealloc {
  places_.clear();
  for (const id key : keys_) [key release];
  for (const id value : values_) [value release];
  [super dealloc];
}
@end

@implementation NSMutableDictionary
+ (instancetype)dictionaryWithCapacity:(NSUInteger)capacity {
  return [self dictionary];
}
- (instancetype)initWithCapacity:(NSUInteger)capacity {
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  return [[NSDictionary alloc] initWithDictionary:self];
}
- (void)setObject:(id)object forKey:(id)key {
  [self smelt_set:object forKey:key];
}
- (void)setObject:(id)object forKeyedSubscript:(id)key {
  if (object)
    [self smelt_set:object forKey:key];
  else
    [self smelt_remove:key];
}
- (void)removeObjectForKey:(id)key {
  [self smelt_remove:key];
}
- (void)removeAllObjects {
  for (id key in self.allKeys) [self smelt_remove:key];
}
- (void)addEntriesFromDictionary:(NSDictionary*)other {
  for (id key in other.allKeys) [self smelt_set:[other objectForKey:key] forKey:key];
}
@end

// A set keeps its own storage: unlike the keys of a dictionary, its members are not copied.
@interface NSSet () {
 @public
  std::vector<id> members_;  // each retained
  std::unordered_map<id, size_t, smelt::foundation::Hash, smelt::foundation::Equal> places_;
  unsigned long changes_;
}
@end
namespace {
void add(NSSet* to, id object) {
  if (!object) raise(NSInvalidArgumentException, "nil cannot be put into a set");
  if (!to->places_.emplace(object, to->members_.size()).second) return;
  ++to->changes_;
  to->members_.push_back([object retain]);
}
}  // namespace

@implementation NSSet
+ (instancetype)set {
  return [[self new] autorelease];
}
+ (instancetype)setWithObject:(id)object {
  return [[[self alloc] initWithObjects:&object count:1] autorelease];
}
+ (instancetype)setWithObjects:(id)first, ... {
  NSSet* made = [self new];
  va_list list;
  va_start(list, first);
  for (id object = first; object; object = va_arg(list, id)) add(made, object);
  va_end(list);
  return [made autorelease];
}
+ (instancetype)setWithArray:(NSArray*)array {
  return [[[self alloc] initWithArray:array] autorelease];
}
- (instancetype)initWithObjects:(const id[])objects count:(NSUInteger)count {
  for (NSUInteger i = 0; i < count; ++i) add(self, objects[i]);
  return self;
}
- (instancetype)initWithArray:(NSArray*)array {
  for (id object in array) add(self, object);
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  return [self retain];
}
- (id)mutableCopyWithZone:(NSZone*)zone {
  return [[NSMutableSet alloc] initWithArray:self.allObjects];
}
- (NSUInteger)count {
  return members_.size();
}
- (id)member:(id)object {
  const auto at = object ? places_.find(object) : places_.end();
  return at != places_.end() ? members_[at->second] : nil;
}
- (BOOL)containsObject:(id)object {
  return [self member:object] != nil;
}
- (NSArray*)allObjects {
  return [NSArray arrayWithObjects:members_.data() count:members_.size()];
}
- (id)anyObject {
  return members_.empty() ? nil : members_.front();
}
- (BOOL)isEqualToSet:(NSSet*)other {
  if (other.count != members_.size()) return NO;
  for (const id object : members_)
    if (![other containsObject:object]) return NO;
  return YES;
}
- (BOOL)isEqual:(id)other {
  return self == other || ([other isKindOfClass:[NSSet class]] && [self isEqualToSet:other]);
}
- (NSUInteger)hash {
  return members_.size();
}
- (NSEnumerator*)objectEnumerator {
  return [self.allObjects objectEnumerator];
}
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state
                                  objects:(id __unsafe_unretained[])buffer
                                    count:(NSUInteger)room {
  return enumerate(state, members_, &changes_);
}
- (NSString*)description {
  return self.allObjects.description;
}
- (void)dealloc {
  places_.clear();
  for (const id object : members_) [object release];
  [super dealloc];
}
@end

@implementation NSMutableSet
- (id)copyWithZone:(NSZone*)zone {
  return [[NSSet alloc] initWithArray:self.allObjects];
}
- (void)addObject:(id)object {
  add(self, object);
}
- (void)removeObject:(id)object {
  const auto found = object ? places_.find(object) : places_.end();
  if (found == places_.end()) return;
  ++changes_;
  const size_t at = found->second;
  const id gone = members_[at];
  places_.erase(found);
  members_.erase(members_.begin() + static_cast<long>(at));
  for (size_t i = at; i < members_.size(); ++i) --places_[members_[i]];
  [gone release];
}
- (void)removeAllObjects {
  ++changes_;
  places_.clear();
  const std::vector<id> gone = std::exchange(members_, {});
  for (const id object : gone) [object release];
}
@end
