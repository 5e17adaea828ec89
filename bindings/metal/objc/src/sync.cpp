// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// @synchronized: a recursive lock for each object that is locked now; and what hangs on an object by a key.
#include "runtime.hpp"

#include <cstdlib>
#include <map>
#include <memory>
#include <unordered_map>

extern "C" {
id objc_retain(id object);
void objc_release(id object);
id objc_autorelease(id object);
}

namespace smelt::objc {

void note_associated(id object);

namespace {

struct Monitor {
  std::recursive_mutex lock;
  int users = 0;  // that hold it or wait
};
struct Monitors {
  std::mutex lock;
  std::unordered_map<id, std::unique_ptr<Monitor>> by_object;
};
Monitors& monitors() {
  static auto* all = new Monitors;
  return *all;
}

struct Association {
  id value;
  uintptr_t policy;
};
struct Associations {
  std::mutex lock;
  std::unordered_map<id, std::map<const void*, Association>> by_object;
};
Associations& associations() {
  static auto* all = new Associations;
  return *all;
}

enum : uintptr_t { kRetain = 1, kCopy = 2, kAtomic = 0x300 };

void drop(const Association& association) {
  if (association.policy & kRetain) objc_release(association.value);
}

}  // namespace

void remove_associated(id object) {
  std::map<const void*, Association> gone;
  {
    std::lock_guard guard(associations().lock);
    const auto at = associations().by_object.find(object);
    if (at == associations().by_object.end()) return;
    gone = std::move(at->second);
    associations().by_object.erase(at);
  }
  for (const auto& [key, association] : gone) drop(association);
}

}  // namespace smelt::objc

using namespace smelt::objc;

SMELT_OBJC_EXPORT int objc_sync_enter(id object) {
  if (object == nullptr) return 0;
  Monitor* monitor = nullptr;
  {
    std::lock_guard guard(monitors().lock);
    std::unique_ptr<Monitor>& known = monitors().by_object[object];
    if (!known) known = std::make_unique<Monitor>();
    monitor = known.get();
    ++monitor->users;
  }
  monitor->lock.lock();
  return 0;
}

SMELT_OBJC_EXPORT int objc_sync_exit(id object) {
  if (object == nullptr) return 0;
  std::lock_guard guard(monitors().lock);
  const auto at = monitors().by_object.find(object);
  if (at == monitors().by_object.end()) return 1;
  at->second->lock.unlock();
  if (--at->second->users == 0) monitors().by_object.erase(at);
  return 0;
}

SMELT_OBJC_EXPORT void objc_setAssociatedObject(id object, const void* key, id value, uintptr_t policy) {
  if (object == nullptr) return;
  static const NamedSelector copy("copy");
  if (value != nullptr && (policy & kRetain)) value = policy & kCopy ? message<id>(value, copy) : objc_retain(value);
  Association before{};
  {
    std::lock_guard guard(associations().lock);
    auto& all = associations().by_object[object];
    Association& at = all[key];
    before = at;
    at = {value, policy};
    if (value == nullptr) all.erase(key);
    note_associated(object);
  }
  drop(before);
}

SMELT_OBJC_EXPORT id objc_getAssociatedObject(id object, const void* key) {
  if (object == nullptr) return nullptr;
  id value = nullptr;
  {
    std::lock_guard guard(associations().lock);
    const auto all = associations().by_object.find(object);
    if (all == associations().by_object.end()) return nullptr;
    const auto at = all->second.find(key);
    if (at == all->second.end()) return nullptr;
    value = at->second.value;
    if (!(at->second.policy & kAtomic)) return value;
    objc_retain(value);
  }
  return objc_autorelease(value);
}

SMELT_OBJC_EXPORT void objc_removeAssociatedObjects(id object) {
  if (object != nullptr) remove_associated(object);
}

namespace {
std::atomic<void (*)(id)> mutation_handler{nullptr};
}
SMELT_OBJC_EXPORT void objc_setEnumerationMutationHandler(void (*handler)(id)) {
  mutation_handler = handler;
}
SMELT_OBJC_EXPORT void objc_enumerationMutation(id collection) {
  if (auto* handler = mutation_handler.load()) return handler(collection);
  fatal("a collection of class '%s' was changed while it was enumerated",
        collection != nullptr ? class_of(collection)->name : "nil");
}
