// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The storage of the collections, which the mutable ones change.
#pragma once
#include "internal.hpp"

#include <unordered_map>
#include <vector>

@interface NSArray () {
 @public
  std::vector<id> items_;  // each retained
  unsigned long changes_;
}
@end

namespace smelt::foundation {
struct Hash {
  size_t operator()(id key) const { return [key hash]; }
};
struct Equal {
  bool operator()(id one, id other) const { return one == other || [one isEqual:other]; }
};
NSUInteger enumerate(NSFastEnumerationState* state, const std::vector<id>& items, unsigned long* changes);
}  // namespace smelt::foundation

@interface NSDictionary () {
 @public
  std::vector<id> keys_, values_;  // each retained
  std::unordered_map<id, size_t, smelt::foundation::Hash, smelt::foundation::Equal> places_;
  unsigned long changes_;
}
- (void)smelt_set:(id)object forKey:(id)key;
- (void)smelt_remove:(id)key;
@end
