// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of <objc/runtime.h> on instance variables, properties and protocols.
#include "runtime.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace smelt::objc;

SMELT_OBJC_EXPORT objc_ivar* class_getInstanceVariable(Class of, const char* name) {
  std::lock_guard guard(runtime_lock());
  for (; of != nullptr && name != nullptr; of = of->super_class)
    for (int32_t i = 0; of->ivars != nullptr && i < of->ivars->count; ++i)
      if (strcmp(of->ivars->ivars[i].name, name) == 0) return &of->ivars->ivars[i];
  return nullptr;
}
SMELT_OBJC_EXPORT objc_ivar** class_copyIvarList(Class of, unsigned* count) {
  std::lock_guard guard(runtime_lock());
  const int32_t all = of != nullptr && of->ivars != nullptr ? of->ivars->count : 0;
  if (count != nullptr) *count = static_cast<unsigned>(all);
  if (all == 0) return nullptr;
  auto** made = static_cast<objc_ivar**>(calloc(static_cast<size_t>(all) + 1, sizeof(objc_ivar*)));
  for (int32_t i = 0; made != nullptr && i < all; ++i) made[i] = &of->ivars->ivars[i];
  return made;
}
SMELT_OBJC_EXPORT signed char class_addIvar(Class to, const char* name, size_t size, uint8_t log2_alignment,
                                            const char* types) {
  std::lock_guard guard(runtime_lock());
  if (to == nullptr || name == nullptr || !(to->info & kBuilding) || class_getInstanceVariable(to, name) != nullptr)
    return 0;
  const int32_t count = to->ivars != nullptr ? to->ivars->count : 0;
  const size_t bytes = sizeof(objc_ivar_list) + (static_cast<size_t>(count) + 1) * sizeof(objc_ivar);
  auto* list = static_cast<objc_ivar_list*>(realloc(to->ivars, bytes));
  if (list == nullptr) return 0;
  const int64_t alignment = int64_t{1} << log2_alignment;
  const int64_t offset = (to->instance_size + alignment - 1) & -alignment;
  list->count = count + 1;
  list->size = sizeof(objc_ivar);
  list->ivars[count] = {strdup(name), strdup(types != nullptr ? types : ""), new int32_t(static_cast<int32_t>(offset)),
                        static_cast<uint32_t>(size), static_cast<uint32_t>(log2_alignment) << 3};
  to->ivars = list;
  to->instance_size = offset + static_cast<int64_t>(size);
  return 1;
}
SMELT_OBJC_EXPORT const char* ivar_getName(objc_ivar* ivar) {
  return ivar != nullptr ? ivar->name : nullptr;
}
SMELT_OBJC_EXPORT const char* ivar_getTypeEncoding(objc_ivar* ivar) {
  return ivar != nullptr ? ivar->type : nullptr;
}
SMELT_OBJC_EXPORT ptrdiff_t ivar_getOffset(objc_ivar* ivar) {
  return ivar != nullptr ? *ivar->offset : 0;
}

namespace {
id* place(id object, objc_ivar* ivar) {
  return reinterpret_cast<id*>(reinterpret_cast<char*>(object) + *ivar->offset);
}
}  // namespace

extern "C" void objc_storeStrong(id* at, id value);
SMELT_OBJC_EXPORT id object_getIvar(id object, objc_ivar* ivar) {
  return object != nullptr && !is_small(object) && ivar != nullptr ? *place(object, ivar) : nullptr;
}
/** Retains for an ivar that Clang marks as strong (ARC), and only there. */
SMELT_OBJC_EXPORT void object_setIvar(id object, objc_ivar* ivar, id value) {
  if (object == nullptr || is_small(object) || ivar == nullptr) return;
  if ((ivar->flags & 3) == 1) return objc_storeStrong(place(object, ivar), value);
  *place(object, ivar) = value;
}
SMELT_OBJC_EXPORT objc_ivar* object_getInstanceVariable(id object, const char* name, void** value) {
  objc_ivar* ivar = object != nullptr ? class_getInstanceVariable(class_of(object), name) : nullptr;
  if (ivar != nullptr && value != nullptr) *value = object_getIvar(object, ivar);
  return ivar;
}
SMELT_OBJC_EXPORT objc_ivar* object_setInstanceVariable(id object, const char* name, void* value) {
  objc_ivar* ivar = object != nullptr ? class_getInstanceVariable(class_of(object), name) : nullptr;
  object_setIvar(object, ivar, static_cast<id>(value));
  return ivar;
}

SMELT_OBJC_EXPORT objc_property* class_getProperty(Class of, const char* name) {
  std::lock_guard guard(runtime_lock());
  for (; of != nullptr && name != nullptr; of = of->super_class)
    for (objc_property_list* list = of->properties; list != nullptr; list = list->next)
      for (int32_t i = 0; i < list->count; ++i)
        if (strcmp(list->properties[i].name, name) == 0) return &list->properties[i];
  return nullptr;
}
SMELT_OBJC_EXPORT objc_property** class_copyPropertyList(Class of, unsigned* count) {
  std::vector<objc_property*> all;
  std::lock_guard guard(runtime_lock());
  for (objc_property_list* list = of != nullptr ? of->properties : nullptr; list != nullptr; list = list->next)
    for (int32_t i = 0; i < list->count; ++i) all.push_back(&list->properties[i]);
  if (count != nullptr) *count = static_cast<unsigned>(all.size());
  if (all.empty()) return nullptr;
  auto** made = static_cast<objc_property**>(calloc(all.size() + 1, sizeof(objc_property*)));
  if (made != nullptr) std::copy(all.begin(), all.end(), made);
  return made;
}
SMELT_OBJC_EXPORT const char* property_getName(objc_property* property) {
  return property != nullptr ? property->name : nullptr;
}
SMELT_OBJC_EXPORT const char* property_getAttributes(objc_property* property) {
  return property != nullptr ? property->attributes : nullptr;
}

// ---- protocols: equal by name ----

namespace {
bool adopts(const objc_protocol_list* list, const objc_protocol* wanted) {
  for (; list != nullptr; list = list->next)
    for (int64_t i = 0; i < list->count; ++i) {
      const objc_protocol* one = list->protocols[i];
      if (one == wanted || strcmp(one->name, wanted->name) == 0 || adopts(one->protocols, wanted)) return true;
    }
  return false;
}
}  // namespace

SMELT_OBJC_EXPORT objc_protocol* objc_getProtocol(const char* name) {
  return name != nullptr ? find_protocol(name) : nullptr;
}
SMELT_OBJC_EXPORT const char* protocol_getName(objc_protocol* protocol) {
  return protocol != nullptr ? protocol->name : nullptr;
}
SMELT_OBJC_EXPORT signed char protocol_isEqual(objc_protocol* one, objc_protocol* other) {
  return one == other || (one != nullptr && other != nullptr && strcmp(one->name, other->name) == 0);
}
SMELT_OBJC_EXPORT signed char protocol_conformsToProtocol(objc_protocol* protocol, objc_protocol* other) {
  if (protocol == nullptr || other == nullptr) return 0;
  std::lock_guard guard(runtime_lock());
  return protocol_isEqual(protocol, other) || adopts(protocol->protocols, other);
}
/** The class's own list, as in Apple's runtime: superclasses are not asked. */
SMELT_OBJC_EXPORT signed char class_conformsToProtocol(Class of, objc_protocol* protocol) {
  if (of == nullptr || protocol == nullptr) return 0;
  std::lock_guard guard(runtime_lock());
  return adopts(of->protocols, protocol);
}
SMELT_OBJC_EXPORT signed char class_addProtocol(Class to, objc_protocol* protocol) {
  if (to == nullptr || protocol == nullptr) return 0;
  std::lock_guard guard(runtime_lock());
  if (adopts(to->protocols, protocol)) return 0;
  auto* list = static_cast<objc_protocol_list*>(calloc(1, sizeof(objc_protocol_list) + sizeof(objc_protocol*)));
  if (list == nullptr) return 0;
  *list = {to->protocols, 1};
  list->protocols[0] = protocol;
  to->protocols = list;
  return 1;
}
SMELT_OBJC_EXPORT objc_protocol** class_copyProtocolList(Class of, unsigned* count) {
  std::vector<objc_protocol*> all;
  std::lock_guard guard(runtime_lock());
  for (objc_protocol_list* list = of != nullptr ? of->protocols : nullptr; list != nullptr; list = list->next)
    all.insert(all.end(), list->protocols, list->protocols + list->count);
  if (count != nullptr) *count = static_cast<unsigned>(all.size());
  if (all.empty()) return nullptr;
  auto** made = static_cast<objc_protocol**>(calloc(all.size() + 1, sizeof(objc_protocol*)));
  if (made != nullptr) std::copy(all.begin(), all.end(), made);
  return made;
}

extern "C" struct objc_method_description {
  SEL name;
  const char* types;
};
SMELT_OBJC_EXPORT objc_method_description protocol_getMethodDescription(objc_protocol* protocol, SEL selector,
                                                                        signed char required, signed char instance) {
  if (protocol == nullptr || selector == nullptr) return {};
  std::lock_guard guard(runtime_lock());
  if (const ProtocolMethodList* list = protocol->methods[(required ? 0 : 2) + (instance ? 0 : 1)])
    for (int32_t i = 0; i < list->count; ++i)
      if (list->methods[i].selector->name == selector->name) return {list->methods[i].selector, list->methods[i].types};
  for (const objc_protocol_list* above = protocol->protocols; above != nullptr; above = above->next)
    for (int64_t i = 0; i < above->count; ++i) {
      const auto found = protocol_getMethodDescription(above->protocols[i], selector, required, instance);
      if (found.name != nullptr) return found;
    }
  return {};
}
