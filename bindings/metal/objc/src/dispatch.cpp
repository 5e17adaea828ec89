// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From receiver and selector to a method. Each class has a cache: a hash table of interned names with open addresses
// that objc_msgSend (msgsend.S) reads without a lock. An entry is written once, the method first; a table that is half
// full, or stale, is replaced and never freed, as some thread may still read it. Stale happens seldom: a category, or a
// method replaced.
#include "runtime.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>

extern "C" {
struct CacheEntry {
  std::atomic<const char*> name;
  std::atomic<IMP> implementation;
};
struct MethodCache {
  uint64_t mask;  // entries, less one
  uint64_t used;
  CacheEntry entries[];
};
static_assert(sizeof(CacheEntry) == 16 && offsetof(MethodCache, entries) == 16, "msgsend.S knows the layout");
}

namespace smelt::objc {

namespace {

struct EmptyCache {
  uint64_t mask = 0, used = 0;
  CacheEntry entry{};
};
EmptyCache no_entries;

uint64_t place(const char* name, uint64_t mask) {
  return (reinterpret_cast<uintptr_t>(name) >> 4) & mask;
}

MethodCache* make_cache(uint64_t entries) {
  auto* made = static_cast<MethodCache*>(calloc(1, sizeof(MethodCache) + entries * sizeof(CacheEntry)));
  if (made == nullptr) fatal("no memory for a method cache");
  made->mask = entries - 1;
  return made;
}

void insert(MethodCache* cache, const char* name, IMP implementation) {
  for (uint64_t at = place(name, cache->mask);; at = (at + 1) & cache->mask) {
    CacheEntry& entry = cache->entries[at];
    const char* there = entry.name.load(std::memory_order_relaxed);
    if (there == name) return;
    if (there != nullptr) continue;
    entry.implementation.store(implementation, std::memory_order_relaxed);
    entry.name.store(name, std::memory_order_release);
    ++cache->used;
    return;
  }
}

// With the runtime's lock. What was there before may still be read, so it is kept.
void replace_cache(Class of, MethodCache* with) {
  static auto* before = new std::vector<MethodCache*>;
  MethodCache* now = of->cache.exchange(with, std::memory_order_acq_rel);
  if (now != empty_cache()) before->push_back(now);
}

// With the runtime's lock.
void remember(Class of, const char* name, IMP implementation) {
  MethodCache* cache = of->cache.load(std::memory_order_relaxed);
  if (2 * (cache->used + 1) > cache->mask) {
    MethodCache* larger = make_cache(std::max<uint64_t>(16, 2 * (cache->mask + 1)));
    for (uint64_t i = 0; i <= cache->mask; ++i)
      if (const char* known = cache->entries[i].name.load(std::memory_order_relaxed))
        insert(larger, known, cache->entries[i].implementation.load(std::memory_order_relaxed));
    insert(larger, name, implementation);
    replace_cache(of, larger);
    return;
  }
  insert(cache, name, implementation);
}

struct Initialising {
  std::mutex lock;
  std::condition_variable changed;
};
Initialising& initialising() {
  static auto* one = new Initialising;
  return *one;
}

// +initialize, once, superclasses first. A second thread waits; the one that runs it goes on.
void initialise(Class of) {
  ClassState* state = of->state;
  if (state->initialised.load(std::memory_order_acquire) == Initialised::yes) return;
  if (state->of->super_class != nullptr) initialise(state->of->super_class);
  {
    std::unique_lock guard(initialising().lock);
    if (state->initialised == Initialised::running) {
      if (pthread_equal(state->initialiser, pthread_self())) return;
      initialising().changed.wait(guard, [&] { return state->initialised != Initialised::running; });
    }
    if (state->initialised == Initialised::yes) return;
    state->initialiser = pthread_self();
    state->initialised = Initialised::running;
  }
  struct Finish {  // an exception out of +initialize ends it too
    ClassState* state;
    ~Finish() {
      {
        std::lock_guard guard(initialising().lock);
        state->initialised.store(Initialised::yes, std::memory_order_release);
      }
      initialising().changed.notify_all();
    }
  } finish{state};
  static const NamedSelector name("initialize");
  objc_method* method = nullptr;
  {
    std::lock_guard guard(runtime_lock());
    method = find_method(state->of->isa, name.selector.name);
  }
  if (method != nullptr) reinterpret_cast<void (*)(Class, SEL)>(method->implementation)(state->of, &name.selector);
}

// What is called when nobody has the method. The root class's -doesNotRecognizeSelector: may throw.
void* not_recognised(id receiver, SEL selector) {
  static const NamedSelector name("doesNotRecognizeSelector:");
  const Class of = class_of(receiver);
  if (implementation_of(of, name.selector.name) != nullptr) message<void>(receiver, name, selector);
  fatal("%c[%s %s]: no such method", of->info & kMeta ? '+' : '-', of->name, selector->name);
}

// A class may still add the method, or name another receiver.
IMP forward(id* receiver, SEL selector) {
  static const NamedSelector resolve_instance("resolveInstanceMethod:");
  static const NamedSelector resolve_class("resolveClassMethod:");
  static const NamedSelector target("forwardingTargetForSelector:");
  const Class of = class_of(*receiver);
  const NamedSelector& resolver = of->info & kMeta ? resolve_class : resolve_instance;
  const id asked = reinterpret_cast<id>(of->state->of);
  if (implementation_of(class_of(asked), resolver.selector.name) != nullptr &&
      message<signed char>(asked, resolver, selector))
    if (const IMP found = implementation_of(of, selector->name)) return found;
  if (implementation_of(of, target.selector.name) != nullptr) {
    const id other = message<id>(*receiver, target, selector);
    if (other != nullptr && other != *receiver) {
      *receiver = other;
      return objc_msg_lookup(other, selector);
    }
  }
  return reinterpret_cast<IMP>(&not_recognised);
}

void* nil_method() {
  return nullptr;
}

}  // namespace

MethodCache* empty_cache() {
  return reinterpret_cast<MethodCache*>(&no_entries);
}

objc_method* own_method(Class of, const char* name) {
  for (objc_method_list* list = of->methods; list != nullptr; list = list->next)
    for (int32_t i = 0; i < list->count; ++i)
      if (list->methods[i].selector->name == name) return &list->methods[i];
  return nullptr;
}

objc_method* find_method(Class of, const char* name) {
  std::lock_guard guard(runtime_lock());
  for (; of != nullptr; of = of->super_class)
    if (objc_method* method = own_method(of, name)) return method;
  return nullptr;
}

void forget_caches() {
  std::lock_guard guard(runtime_lock());
  for (const Class of : all_classes()) {
    replace_cache(of, empty_cache());
    replace_cache(of->isa, empty_cache());
  }
}

IMP implementation_of(Class of, const char* name) {
  if (of == nullptr) return nullptr;
  initialise(of);
  std::lock_guard guard(runtime_lock());
  const objc_method* method = find_method(of, name);
  if (method == nullptr) return nullptr;
  // While +initialize runs, other threads have to come by here.
  if (of->state->initialised.load(std::memory_order_relaxed) == Initialised::yes)
    remember(of, name, method->implementation);
  return method->implementation;
}

}  // namespace smelt::objc

using namespace smelt::objc;

/** For objc_msgSend: the receiver may be changed. Never null. */
extern "C" __attribute__((visibility("hidden"))) IMP smelt_objc_lookup(id* receiver, SEL selector) {
  if (const IMP found = implementation_of(class_of(*receiver), selector->name)) return found;
  return forward(receiver, selector);
}

SMELT_OBJC_EXPORT IMP objc_msg_lookup(id receiver, SEL selector) {
  if (receiver == nullptr) return reinterpret_cast<IMP>(&nil_method);
  const MethodCache* cache = class_of(receiver)->cache.load(std::memory_order_acquire);
  for (uint64_t at = place(selector->name, cache->mask);; at = (at + 1) & cache->mask) {
    const char* there = cache->entries[at].name.load(std::memory_order_acquire);
    if (there == selector->name) return cache->entries[at].implementation.load(std::memory_order_relaxed);
    if (there == nullptr) break;
  }
  if (const IMP found = implementation_of(class_of(receiver), selector->name)) return found;
  // Without the receiver in hand it cannot be another: its class is asked to add the method, no more.
  id same = receiver;
  const IMP found = forward(&same, selector);
  return same == receiver ? found : reinterpret_cast<IMP>(&not_recognised);
}

struct objc_super {
  id receiver;
  Class super_class;
};
SMELT_OBJC_EXPORT IMP objc_msg_lookup_super(objc_super* super, SEL selector) {
  if (super->receiver == nullptr) return reinterpret_cast<IMP>(&nil_method);
  // Clang hands the class whose superclass is meant resolved already: the reference to it is the superclass itself.
  if (const IMP found = implementation_of(super->super_class, selector->name)) return found;
  return reinterpret_cast<IMP>(&not_recognised);
}
