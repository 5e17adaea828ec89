// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The strings that the compiler makes: constants, and short ASCII text in a pointer. Their layout is Clang's
// (clang/lib/CodeGen/CGObjCGNU.cpp, gnustep-2.0).
#include <mutex>
#include <unordered_map>

#include "strings.hpp"
#include "text.hpp"

using namespace smelt::foundation;

@interface SmeltTinyString : SmeltLastingString
@end

namespace {

// Texts of strings that hold no UTF-8 themselves, for the program's life.
template <typename Make>
std::string_view kept_text(uintptr_t key, Make make) {
  static auto* lock = new std::mutex;
  static auto* known = new std::unordered_map<uintptr_t, std::string>;
  std::lock_guard guard(*lock);
  const auto at = known->find(key);
  return at != known->end() ? at->second : known->emplace(key, make()).first->second;
}

}  // namespace

@implementation SmeltLastingString
- (instancetype)retain {
  return self;
}
- (oneway void)release {
}
- (instancetype)autorelease {
  return self;
}
- (NSUInteger)retainCount {
  return NSUIntegerMax;
}
@end

// Its flags say how it is written: 0 ASCII, 1 UTF-8, 2 UTF-16, 3 UTF-32. The compiler uses the first and the third.
@implementation NSConstantString
- (std::string_view)smelt_text {
  if (flags_ != 2) return {data_, size_};
  return kept_text(reinterpret_cast<uintptr_t>(self), [&] {
    return from_utf16({reinterpret_cast<const char16_t*>(data_), length_});
  });
}
- (NSUInteger)length {
  return length_;
}
- (void)_isImmortal {
}
@end

// Up to eight characters of seven bits from the top down, four bits of length, the tag.
@implementation SmeltTinyString
+ (void)load {
  objc_registerSmallObjectClass_np(self, 4);
}
- (NSUInteger)length {
  return (reinterpret_cast<uintptr_t>(self) >> 3) & 15;
}
- (std::string_view)smelt_text {
  const auto bits = reinterpret_cast<uintptr_t>(self);
  return kept_text(bits, [&] {
    std::string text((bits >> 3) & 15, ' ');
    for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>((bits >> (57 - 7 * i)) & 127);
    return text;
  });
}
@end
