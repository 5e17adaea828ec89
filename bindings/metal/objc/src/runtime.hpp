// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the runtime's files share. One recursive lock guards names, classes, methods and categories; message sends take
// it only when a class's cache does not know the selector.
#pragma once
#include "abi.hpp"

#include <pthread.h>

#include <string_view>
#include <vector>

#define SMELT_OBJC_EXPORT extern "C" __attribute__((visibility("default")))

namespace smelt::objc {

enum class Initialised : uint8_t { no, running, yes };

// Shared by a class and its metaclass.
struct ClassState {
  Class of = nullptr;  // the class that is no metaclass
  std::atomic<Initialised> initialised{Initialised::no};
  pthread_t initialiser{};
  const objc_method_list* load_methods = nullptr;  // where the class's own +load is; categories have theirs
  bool load_sent = false;
};

std::recursive_mutex& runtime_lock();

// Ends the program with a line about it on stderr.
[[noreturn]] void fatal(const char* format, ...) __attribute__((format(printf, 1, 2)));

// ---- selectors: one string for each name, for the life of the program ----
const char* intern(std::string_view name);
void register_selector(objc_selector* selector);

// ---- classes ----
inline constexpr uintptr_t kSmallMask = 7;
extern "C" Class smelt_objc_small_classes[8];
inline Class class_of(id object) {
  const uintptr_t bits = reinterpret_cast<uintptr_t>(object) & kSmallMask;
  return bits != 0 ? smelt_objc_small_classes[bits] : object->isa;
}
inline bool is_small(id object) {
  return (reinterpret_cast<uintptr_t>(object) & kSmallMask) != 0;
}

Class find_class(std::string_view name);
bool add_class(Class made);  // false: the name is taken
// Final superclass, offsets, size and selectors, superclasses first.
void resolve(Class of);
void set_state(Class of);
void note_own_counting(Class of, const objc_method_list* list);
const std::vector<Class>& all_classes();
objc_protocol* find_protocol(std::string_view name);

// ---- methods ----
// By interned name, in the class itself or in it and what is above it.
objc_method* own_method(Class of, const char* name);
objc_method* find_method(Class of, const char* name);
void forget_caches();  // after methods changed
MethodCache* empty_cache();
IMP implementation_of(Class of, const char* name);  // null: none; sends +initialize first
inline bool responds(Class of, const char* name) {
  return find_method(of, name) != nullptr;
}

// A message from here: message<Result>(receiver, name, arguments...).
struct NamedSelector {
  explicit NamedSelector(const char* name) : selector{intern(name), nullptr} {}
  objc_selector selector;
};
extern "C" IMP objc_msg_lookup(id receiver, SEL selector);
template <typename Returned, typename... Arguments>
Returned message(id receiver, const NamedSelector& name, Arguments... arguments) {
  const IMP found = objc_msg_lookup(receiver, &name.selector);
  return reinterpret_cast<Returned (*)(id, SEL, Arguments...)>(found)(receiver, &name.selector, arguments...);
}

// ---- objects ----
void clear_weak(id object);
void remove_associated(id object);
bool try_retain_block(const void* block);

}  // namespace smelt::objc
