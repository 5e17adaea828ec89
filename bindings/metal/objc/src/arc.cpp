// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reference counting and what ARC calls. The count stands in a header before the object.
#include "runtime.hpp"

#include <cstdlib>
#include <cstring>
#include <unordered_map>

extern "C" {
void* _Block_copy(const void* block);
void _Block_release(const void* block);
extern objc_class _NSConcreteMallocBlock;
id objc_retain(id object);
void objc_release(id object);
id objc_autorelease(id object);
}

namespace smelt::objc {

namespace {

struct alignas(16) Header {
  std::atomic<int64_t> references;
  std::atomic<bool> weak, associated, going;
};
static_assert(sizeof(Header) == 16);
Header* header_of(id object) {
  return reinterpret_cast<Header*>(object) - 1;
}

const NamedSelector& retain_selector() {
  static const NamedSelector name("retain");
  return name;
}
const NamedSelector& release_selector() {
  static const NamedSelector name("release");
  return name;
}

bool is_block(id object) {
  return (object->isa->info & kBlockClass) != 0;
}

// Held for the whole of a look at a weak variable: what it names must not go meanwhile.
std::mutex& weak_lock() {
  static auto* lock = new std::mutex;
  return *lock;
}
// By object, the variables that name it.
std::unordered_multimap<id, id*>& weak_variables() {
  static auto* all = new std::unordered_multimap<id, id*>;
  return *all;
}
std::atomic<bool> weak_blocks{false};  // a weak variable has named a block: blocks have no header to note it in

// One reference more unless the object is going already.
bool try_retain(id object) {
  if (is_block(object)) return try_retain_block(object);
  if (object->isa->info & kCounts) {  // in its own way; then this is the method that knows
    static const NamedSelector weakly("retainWeakReference");
    if (responds(object->isa, weakly.selector.name)) return message<signed char>(object, weakly) != 0;
    message<id>(object, retain_selector());
    return true;
  }
  std::atomic<int64_t>& references = header_of(object)->references;
  int64_t seen = references.load(std::memory_order_relaxed);
  while (seen > 0)
    if (references.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed)) return true;
  return false;
}

// Objects that are never freed: nobody has to be told when they go.
bool is_immortal(id object) {
  if (is_small(object)) return true;
  const Class of = object->isa;
  if (of->info & kMeta) return true;
  if (of->info & kBlockClass) return of != &_NSConcreteMallocBlock;
  static const char* const immortal = intern("_isImmortal");
  return (of->info & kCounts) && responds(of, immortal);
}

// These three with the weak lock.
void forget(id* at) {
  const id object = *at;
  if (object == nullptr || is_immortal(object)) return;
  auto [first, last] = weak_variables().equal_range(object);
  for (; first != last; ++first)
    if (first->second == at) {
      weak_variables().erase(first);
      return;
    }
}
void name(id* at, id object) {
  *at = object;
  if (object == nullptr || is_immortal(object)) return;
  if (is_block(object)) {
    weak_blocks = true;
  } else {
    Header* header = header_of(object);
    if (header->references.load(std::memory_order_relaxed) <= 0) {  // on its way out
      *at = nullptr;
      return;
    }
    header->weak.store(true, std::memory_order_relaxed);
  }
  weak_variables().emplace(object, at);
}

void destroy_members(id object) {
  static const NamedSelector destruct(".cxx_destruct");
  for (Class of = object->isa; of != nullptr; of = of->super_class)
    if (of->cxx_destruct != nullptr &&
        (of->super_class == nullptr || of->cxx_destruct != of->super_class->cxx_destruct))
      reinterpret_cast<void (*)(id, SEL)>(of->cxx_destruct)(object, &destruct.selector);
}

void construct_members(Class of, id object) {
  static const NamedSelector construct(".cxx_construct");
  if (of->super_class != nullptr) construct_members(of->super_class, object);
  if (of->cxx_construct != nullptr) reinterpret_cast<id (*)(id, SEL)>(of->cxx_construct)(object, &construct.selector);
}

}  // namespace

void clear_weak(id object) {
  if (is_block(object) ? !weak_blocks.load() : !header_of(object)->weak.load(std::memory_order_relaxed)) return;
  std::lock_guard guard(weak_lock());
  auto [first, last] = weak_variables().equal_range(object);
  for (auto at = first; at != last; ++at) *at->second = nullptr;
  weak_variables().erase(first, last);
}

void note_associated(id object) {
  if (!is_immortal(object) && !is_block(object)) header_of(object)->associated.store(true, std::memory_order_relaxed);
}

}  // namespace smelt::objc

using namespace smelt::objc;

SMELT_OBJC_EXPORT id class_createInstance(Class of, size_t extra) {
  if (of == nullptr) return nullptr;
  resolve(of);
  void* memory = calloc(1, sizeof(Header) + static_cast<size_t>(of->instance_size) + extra);
  if (memory == nullptr) return nullptr;
  Header* header = new (memory) Header{{1}, {false}, {false}, {false}};
  const id object = reinterpret_cast<id>(header + 1);
  object->isa = of;
  construct_members(of, object);
  return object;
}

SMELT_OBJC_EXPORT id object_dispose(id object) {
  if (object == nullptr || is_immortal(object)) return nullptr;
  destroy_members(object);
  Header* header = header_of(object);
  if (header->associated.load(std::memory_order_relaxed)) remove_associated(object);
  clear_weak(object);
  header->~Header();
  free(header);
  return nullptr;
}

SMELT_OBJC_EXPORT id objc_retain_fast_np(id object) {
  if (object != nullptr && !is_immortal(object)) header_of(object)->references.fetch_add(1, std::memory_order_relaxed);
  return object;
}

SMELT_OBJC_EXPORT void objc_release_fast_np(id object) {
  if (object == nullptr || is_immortal(object)) return;
  Header* header = header_of(object);
  if (header->references.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  // What -dealloc does with itself must not end in a second -dealloc.
  if (header->going.exchange(true, std::memory_order_relaxed)) return;
  clear_weak(object);
  static const NamedSelector dealloc("dealloc");
  message<void>(object, dealloc);
}

SMELT_OBJC_EXPORT size_t object_getRetainCount_np(id object) {
  if (object == nullptr || is_immortal(object)) return SIZE_MAX;
  return static_cast<size_t>(header_of(object)->references.load(std::memory_order_relaxed));
}

SMELT_OBJC_EXPORT id objc_retain(id object) {
  if (object == nullptr || is_small(object)) return object;
  const uint64_t info = object->isa->info;
  if (info & kMeta) return object;
  if (info & kBlockClass) return static_cast<id>(_Block_copy(object));
  if (info & kCounts) return message<id>(object, retain_selector());
  return objc_retain_fast_np(object);
}

SMELT_OBJC_EXPORT void objc_release(id object) {
  if (object == nullptr || is_small(object)) return;
  const uint64_t info = object->isa->info;
  if (info & kMeta) return;
  if (info & kBlockClass) return _Block_release(object);
  if (info & kCounts) return message<void>(object, release_selector());
  objc_release_fast_np(object);
}

SMELT_OBJC_EXPORT id objc_retainBlock(id block) {
  return static_cast<id>(_Block_copy(block));
}

SMELT_OBJC_EXPORT void objc_storeStrong(id* at, id value) {
  const id before = *at;
  if (before == value) return;
  *at = objc_retain(value);
  objc_release(before);
}

SMELT_OBJC_EXPORT id objc_initWeak(id* at, id value) {
  std::lock_guard guard(weak_lock());
  name(at, value);
  return *at;
}
SMELT_OBJC_EXPORT id objc_storeWeak(id* at, id value) {
  std::lock_guard guard(weak_lock());
  forget(at);
  name(at, value);
  return *at;
}
SMELT_OBJC_EXPORT id objc_loadWeakRetained(id* at) {
  std::lock_guard guard(weak_lock());
  const id object = *at;
  if (object == nullptr || is_immortal(object)) return object;
  return try_retain(object) ? object : nullptr;
}
SMELT_OBJC_EXPORT id objc_loadWeak(id* at) {
  return objc_autorelease(objc_loadWeakRetained(at));
}
SMELT_OBJC_EXPORT void objc_copyWeak(id* to, id* from) {
  std::lock_guard guard(weak_lock());
  name(to, *from);
}
SMELT_OBJC_EXPORT void objc_moveWeak(id* to, id* from) {
  std::lock_guard guard(weak_lock());
  const id object = *from;
  forget(from);
  *from = nullptr;
  name(to, object);
}
SMELT_OBJC_EXPORT void objc_destroyWeak(id* at) {
  std::lock_guard guard(weak_lock());
  forget(at);
  *at = nullptr;
}

SMELT_OBJC_EXPORT id objc_alloc(Class of) {
  static const NamedSelector alloc("alloc");
  return of != nullptr ? message<id>(reinterpret_cast<id>(of), alloc) : nullptr;
}
SMELT_OBJC_EXPORT id objc_allocWithZone(Class of) {
  return objc_alloc(of);
}
SMELT_OBJC_EXPORT id objc_alloc_init(Class of) {
  static const NamedSelector init("init");
  const id made = objc_alloc(of);
  return made != nullptr ? message<id>(made, init) : nullptr;
}
