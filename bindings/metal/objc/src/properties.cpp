// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the accessors of properties call. Atomic ones of one address share one of 64 locks.
#include "runtime.hpp"

#include <cstring>

extern "C" {
id objc_retain(id object);
void objc_release(id object);
id objc_autorelease(id object);
id objc_autoreleaseReturnValue(id object);
}

namespace {

using smelt::objc::message;
using smelt::objc::NamedSelector;

std::mutex& lock_of(const void* address) {
  static auto* locks = new std::mutex[64];
  return locks[(reinterpret_cast<uintptr_t>(address) >> 4) & 63];
}

id* field(id object, ptrdiff_t offset) {
  return reinterpret_cast<id*>(reinterpret_cast<char*>(object) + offset);
}

id kept(id value, bool copy) {
  static const NamedSelector copy_selector("copy");
  if (value == nullptr) return nullptr;
  return copy ? message<id>(value, copy_selector) : objc_retain(value);
}

void set(id object, ptrdiff_t offset, id value, bool atomic, bool copy) {
  if (object == nullptr) return;
  id* at = field(object, offset);
  id before = nullptr;
  if (!copy && !atomic && *at == value) return;
  value = kept(value, copy);
  if (atomic) {
    std::lock_guard guard(lock_of(at));
    before = *at;
    *at = value;
  } else {
    before = *at;
    *at = value;
  }
  objc_release(before);
}

// Two locks of one table, in the order of their addresses; one if they are the same.
struct Both {
  Both(const void* one, const void* other) : first(&lock_of(one)), second(&lock_of(other)) {
    if (second < first) std::swap(first, second);
    first->lock();
    if (second != first) second->lock();
  }
  ~Both() {
    if (second != first) second->unlock();
    first->unlock();
  }
  std::mutex *first, *second;
};

}  // namespace

SMELT_OBJC_EXPORT id objc_getProperty(id object, SEL, ptrdiff_t offset, bool atomic) {
  if (object == nullptr) return nullptr;
  id* at = field(object, offset);
  if (!atomic) return *at;
  id value = nullptr;
  {
    std::lock_guard guard(lock_of(at));
    value = objc_retain(*at);
  }
  return objc_autoreleaseReturnValue(value);
}
SMELT_OBJC_EXPORT void objc_setProperty(id object, SEL, ptrdiff_t offset, id value, bool atomic, bool copy) {
  set(object, offset, value, atomic, copy);
}
SMELT_OBJC_EXPORT void objc_setProperty_atomic(id object, SEL, id value, ptrdiff_t offset) {
  set(object, offset, value, true, false);
}
SMELT_OBJC_EXPORT void objc_setProperty_nonatomic(id object, SEL, id value, ptrdiff_t offset) {
  set(object, offset, value, false, false);
}
SMELT_OBJC_EXPORT void objc_setProperty_atomic_copy(id object, SEL, id value, ptrdiff_t offset) {
  set(object, offset, value, true, true);
}
SMELT_OBJC_EXPORT void objc_setProperty_nonatomic_copy(id object, SEL, id value, ptrdiff_t offset) {
  set(object, offset, value, false, true);
}
SMELT_OBJC_EXPORT void objc_getPropertyStruct(void* to, void* from, ptrdiff_t size, bool atomic, bool) {
  if (!atomic) {
    memcpy(to, from, static_cast<size_t>(size));
    return;
  }
  std::lock_guard guard(lock_of(from));
  memcpy(to, from, static_cast<size_t>(size));
}
SMELT_OBJC_EXPORT void objc_setPropertyStruct(void* to, void* from, ptrdiff_t size, bool atomic, bool) {
  if (!atomic) {
    memcpy(to, from, static_cast<size_t>(size));
    return;
  }
  std::lock_guard guard(lock_of(to));
  memcpy(to, from, static_cast<size_t>(size));
}
SMELT_OBJC_EXPORT void objc_copyPropertyStruct(void* to, void* from, ptrdiff_t size, bool atomic, bool) {
  if (!atomic) {
    memcpy(to, from, static_cast<size_t>(size));
    return;
  }
  Both guard(to, from);
  memcpy(to, from, static_cast<size_t>(size));
}
SMELT_OBJC_EXPORT void objc_getCppObjectAtomic(void* to, const void* from, void (*copy)(void*, const void*)) {
  std::lock_guard guard(lock_of(from));
  copy(to, from);
}
SMELT_OBJC_EXPORT void objc_setCppObjectAtomic(void* to, const void* from, void (*copy)(void*, const void*)) {
  std::lock_guard guard(lock_of(to));
  copy(to, from);
}
