// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of <objc/runtime.h> on classes, objects and methods.
#include "runtime.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

using namespace smelt::objc;

extern "C" {
id objc_retain(id object);
id class_createInstance(Class of, size_t extra);
}

namespace {

// A copy that the caller frees, ended by null; null for none.
template <typename Type>
Type* give(const std::vector<Type>& all, unsigned* count) {
  if (count != nullptr) *count = static_cast<unsigned>(all.size());
  if (all.empty()) return nullptr;
  auto* made = static_cast<Type*>(malloc((all.size() + 1) * sizeof(Type)));
  if (made == nullptr) return nullptr;
  std::copy(all.begin(), all.end(), made);
  made[all.size()] = nullptr;
  return made;
}

objc_method_list* add_list(Class to, objc_selector* selector, IMP implementation, const char* types) {
  auto* list = static_cast<objc_method_list*>(calloc(1, sizeof(objc_method_list) + sizeof(objc_method)));
  if (list == nullptr) fatal("no memory for a method");
  list->count = 1;
  list->size = sizeof(objc_method);
  list->methods[0] = {implementation, selector, types != nullptr ? strdup(types) : nullptr};
  list->next = to->methods;
  to->methods = list;
  note_own_counting(to, list);
  return list;
}

bool is_meta(Class of) {
  return (of->info & kMeta) != 0;
}

}  // namespace

extern "C" SEL sel_registerName(const char* name);

SMELT_OBJC_EXPORT Class objc_lookUpClass(const char* name) {
  return name != nullptr ? find_class(name) : nullptr;
}
SMELT_OBJC_EXPORT Class objc_getClass(const char* name) {
  return objc_lookUpClass(name);
}
SMELT_OBJC_EXPORT id objc_lookup_class(const char* name) {
  return reinterpret_cast<id>(objc_lookUpClass(name));
}
SMELT_OBJC_EXPORT Class objc_getMetaClass(const char* name) {
  const Class of = objc_lookUpClass(name);
  return of != nullptr ? of->isa : nullptr;
}
SMELT_OBJC_EXPORT Class objc_getRequiredClass(const char* name) {
  if (const Class of = objc_lookUpClass(name)) return of;
  fatal("no class is named '%s'", name != nullptr ? name : "");
}
SMELT_OBJC_EXPORT int objc_getClassList(Class* classes, int room) {
  std::lock_guard guard(runtime_lock());
  const auto& all = all_classes();
  for (size_t i = 0; classes != nullptr && i < all.size() && i < static_cast<size_t>(std::max(room, 0)); ++i)
    classes[i] = all[i];
  return static_cast<int>(all.size());
}
SMELT_OBJC_EXPORT Class* objc_copyClassList(unsigned* count) {
  std::lock_guard guard(runtime_lock());
  return give(all_classes(), count);
}

SMELT_OBJC_EXPORT Class objc_allocateClassPair(Class superclass, const char* name, size_t) {
  std::lock_guard guard(runtime_lock());
  if (name == nullptr || find_class(name) != nullptr) return nullptr;
  if (superclass != nullptr) resolve(superclass);
  auto* made = new objc_class{};
  auto* meta = new objc_class{};
  made->name = meta->name = strdup(name);
  made->isa = meta;
  made->super_class = superclass;
  made->instance_size = superclass != nullptr ? superclass->instance_size : static_cast<int64_t>(sizeof(Class));
  made->info = kBuilding;
  meta->info = kMeta;
  set_state(made);
  resolve(made);
  return made;
}
SMELT_OBJC_EXPORT void objc_registerClassPair(Class made) {
  if (made == nullptr || !(made->info & kBuilding)) return;
  std::lock_guard guard(runtime_lock());
  made->info &= ~uint64_t{kBuilding};
  if (!add_class(made)) fatal("two classes are named '%s'", made->name);
}

SMELT_OBJC_EXPORT const char* class_getName(Class of) {
  return of != nullptr ? of->name : "nil";
}
SMELT_OBJC_EXPORT Class class_getSuperclass(Class of) {
  return of != nullptr ? of->super_class : nullptr;
}
SMELT_OBJC_EXPORT signed char class_isMetaClass(Class of) {
  return of != nullptr && is_meta(of);
}
SMELT_OBJC_EXPORT size_t class_getInstanceSize(Class of) {
  return of != nullptr ? static_cast<size_t>(of->instance_size) : 0;
}
SMELT_OBJC_EXPORT int class_getVersion(Class of) {
  return of != nullptr ? static_cast<int>(of->version) : 0;
}
SMELT_OBJC_EXPORT void class_setVersion(Class of, int version) {
  if (of != nullptr) of->version = version;
}

SMELT_OBJC_EXPORT objc_method* class_getInstanceMethod(Class of, SEL selector) {
  return of != nullptr && selector != nullptr ? find_method(of, selector->name) : nullptr;
}
SMELT_OBJC_EXPORT objc_method* class_getClassMethod(Class of, SEL selector) {
  return of != nullptr ? class_getInstanceMethod(is_meta(of) ? of : of->isa, selector) : nullptr;
}
SMELT_OBJC_EXPORT IMP class_getMethodImplementation(Class of, SEL selector) {
  return of != nullptr && selector != nullptr ? implementation_of(of, selector->name) : nullptr;
}
SMELT_OBJC_EXPORT IMP class_getMethodImplementation_stret(Class of, SEL selector) {
  return class_getMethodImplementation(of, selector);
}
SMELT_OBJC_EXPORT signed char class_respondsToSelector(Class of, SEL selector) {
  return of != nullptr && selector != nullptr && find_method(of, selector->name) != nullptr;
}
SMELT_OBJC_EXPORT objc_method** class_copyMethodList(Class of, unsigned* count) {
  std::vector<objc_method*> all;
  std::lock_guard guard(runtime_lock());
  for (objc_method_list* list = of != nullptr ? of->methods : nullptr; list != nullptr; list = list->next)
    for (int32_t i = 0; i < list->count; ++i) all.push_back(&list->methods[i]);
  return give(all, count);
}
SMELT_OBJC_EXPORT signed char class_addMethod(Class to, SEL selector, IMP implementation, const char* types) {
  if (to == nullptr || selector == nullptr || implementation == nullptr) return 0;
  std::lock_guard guard(runtime_lock());
  if (own_method(to, selector->name) != nullptr) return 0;
  add_list(to, const_cast<objc_selector*>(selector), implementation, types);
  forget_caches();
  return 1;
}
SMELT_OBJC_EXPORT IMP class_replaceMethod(Class of, SEL selector, IMP implementation, const char* types) {
  if (of == nullptr || selector == nullptr || implementation == nullptr) return nullptr;
  std::lock_guard guard(runtime_lock());
  objc_method* method = own_method(of, selector->name);
  if (method == nullptr) {
    class_addMethod(of, selector, implementation, types);
    return nullptr;
  }
  const IMP before = std::exchange(method->implementation, implementation);
  forget_caches();
  return before;
}
SMELT_OBJC_EXPORT SEL method_getName(objc_method* method) {
  return method != nullptr ? method->selector : nullptr;
}
SMELT_OBJC_EXPORT IMP method_getImplementation(objc_method* method) {
  if (method == nullptr) return nullptr;
  std::lock_guard guard(runtime_lock());
  return method->implementation;
}
SMELT_OBJC_EXPORT const char* method_getTypeEncoding(objc_method* method) {
  return method != nullptr ? method->types : nullptr;
}
SMELT_OBJC_EXPORT IMP method_setImplementation(objc_method* method, IMP implementation) {
  if (method == nullptr || implementation == nullptr) return nullptr;
  std::lock_guard guard(runtime_lock());
  const IMP before = std::exchange(method->implementation, implementation);
  forget_caches();
  return before;
}
SMELT_OBJC_EXPORT void method_exchangeImplementations(objc_method* one, objc_method* other) {
  if (one == nullptr || other == nullptr) return;
  std::lock_guard guard(runtime_lock());
  std::swap(one->implementation, other->implementation);
  forget_caches();
}

SMELT_OBJC_EXPORT Class object_getClass(id object) {
  return object != nullptr ? class_of(object) : nullptr;
}
SMELT_OBJC_EXPORT const char* object_getClassName(id object) {
  return class_getName(object_getClass(object));
}
SMELT_OBJC_EXPORT Class object_setClass(id object, Class to) {
  if (object == nullptr || is_small(object) || to == nullptr) return nullptr;
  return std::exchange(object->isa, to);
}
SMELT_OBJC_EXPORT signed char object_isClass(id object) {
  return object != nullptr && is_meta(class_of(object));
}
SMELT_OBJC_EXPORT signed char objc_registerSmallObjectClass_np(Class of, uintptr_t mask) {
  std::lock_guard guard(runtime_lock());
  if (mask == 0 || mask > kSmallMask || smelt_objc_small_classes[mask] != nullptr) return 0;
  smelt_objc_small_classes[mask] = of;
  return 1;
}
