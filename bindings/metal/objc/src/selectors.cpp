// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>

namespace smelt::objc {

std::recursive_mutex& runtime_lock() {
  static auto* lock = new std::recursive_mutex;  // outlives every destructor
  return *lock;
}

void fatal(const char* format, ...) {
  va_list list;
  va_start(list, format);
  fputs("smelt Objective-C runtime: ", stderr);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  va_end(list);
  abort();
}

namespace {
struct Names {
  // The key views the string that the value owns; strings are aligned, as the method caches hash their addresses.
  std::unordered_map<std::string_view, objc_selector*> by_name;
};
Names& names() {
  static auto* all = new Names;
  return *all;
}

// The selector without types that stands for a name.
objc_selector* untyped(std::string_view name) {
  std::lock_guard guard(runtime_lock());
  auto& known = names().by_name;
  if (const auto at = known.find(name); at != known.end()) return at->second;
  char* text = static_cast<char*>(aligned_alloc(16, (name.size() + 16) & ~size_t{15}));
  if (text == nullptr) fatal("no memory for a selector");
  memcpy(text, name.data(), name.size());
  text[name.size()] = 0;
  auto* made = new objc_selector{text, nullptr};
  known.emplace(std::string_view(text, name.size()), made);
  return made;
}
}  // namespace

const char* intern(std::string_view name) {
  return untyped(name)->name;
}

void register_selector(objc_selector* selector) {
  if (selector->name == nullptr) return;  // the compiler's mark that keeps the section from being empty
  std::lock_guard guard(runtime_lock());
  selector->name = intern(selector->name);
}

}  // namespace smelt::objc

using namespace smelt::objc;

SMELT_OBJC_EXPORT SEL sel_registerName(const char* name) {
  return name != nullptr ? untyped(name) : nullptr;
}
SMELT_OBJC_EXPORT SEL sel_getUid(const char* name) {
  return sel_registerName(name);
}
SMELT_OBJC_EXPORT const char* sel_getName(SEL selector) {
  return selector != nullptr ? selector->name : "<null selector>";
}
SMELT_OBJC_EXPORT signed char sel_isEqual(SEL left, SEL right) {
  if (left == nullptr || right == nullptr) return left == right;
  return left->name == right->name;
}
