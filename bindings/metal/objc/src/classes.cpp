// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classes by name, and what makes a compiled class usable: its place below its superclass.
#include "runtime.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>

extern "C" {
__attribute__((visibility("hidden"))) Class smelt_objc_small_classes[8] = {};
}

namespace smelt::objc {

namespace {
struct Classes {
  std::unordered_map<std::string_view, Class> by_name;
  std::vector<Class> all;
};
Classes& classes() {
  static auto* known = new Classes;
  return *known;
}

void register_methods(const objc_method_list* list) {
  for (; list != nullptr; list = list->next)
    for (int32_t i = 0; i < list->count; ++i) register_selector(list->methods[i].selector);
}

// Ivars lie behind those of the superclass. Offsets within the class stay as the compiler chose them.
void lay_out(Class of) {
  const int64_t start = of->super_class != nullptr ? of->super_class->instance_size : 0;
  if (of->instance_size > 0) return;
  size_t alignment = 1;
  for (int32_t i = 0; of->ivars != nullptr && i < of->ivars->count; ++i)
    alignment = std::max(alignment, of->ivars->ivars[i].alignment());
  const int64_t begin = (start + static_cast<int64_t>(alignment) - 1) & -static_cast<int64_t>(alignment);
  for (int32_t i = 0; of->ivars != nullptr && i < of->ivars->count; ++i)
    *of->ivars->ivars[i].offset += static_cast<int32_t>(begin);
  of->instance_size = of->instance_size == 0 ? start : begin - of->instance_size;
}

bool is_one_of(const char* name, std::initializer_list<const char*> wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const char* one) { return strcmp(name, one) == 0; });
}
}  // namespace

const std::vector<Class>& all_classes() {
  return classes().all;
}

Class find_class(std::string_view name) {
  std::lock_guard guard(runtime_lock());
  const auto at = classes().by_name.find(name);
  return at != classes().by_name.end() ? at->second : nullptr;
}

bool add_class(Class made) {
  std::lock_guard guard(runtime_lock());
  if (!classes().by_name.emplace(made->name, made).second) return false;
  classes().all.push_back(made);
  return true;
}

void set_state(Class of) {
  auto* state = new ClassState;
  state->of = of;
  of->state = of->isa->state = state;
  of->cache.store(empty_cache(), std::memory_order_release);
  of->isa->cache.store(empty_cache(), std::memory_order_release);
}

// ARC may count by itself unless a class has its own way. The root class says by a method of an agreed name that its
// own way is the runtime's.
void note_own_counting(Class of, const objc_method_list* list) {
  static const char* const agreed = intern("_ARCCompliantRetainRelease");
  bool own = false;
  for (; list != nullptr; list = list->next)
    for (int32_t i = 0; i < list->count; ++i)
      own = own || is_one_of(list->methods[i].selector->name, {"retain", "release", "autorelease"});
  if (!own || own_method(of, agreed) != nullptr) return;
  of->info |= kCounts;
  for (const Class other : all_classes())
    for (Class above = other; above != nullptr && (above->info & kResolved); above = above->super_class)
      if (above == of) other->info |= kCounts;
}

void resolve(Class of) {
  std::lock_guard guard(runtime_lock());
  if (of->info & kResolved) return;
  if (of->super_class != nullptr) resolve(of->super_class);
  Class meta = of->isa;
  Class root = of;
  while (root->super_class != nullptr) root = root->super_class;
  meta->isa = root->isa;
  meta->super_class = of->super_class != nullptr ? of->super_class->isa : of;
  meta->instance_size = sizeof(objc_class);
  if (of->state == nullptr) set_state(of);
  lay_out(of);
  register_methods(of->methods);
  register_methods(meta->methods);
  static const char* const construct = intern(".cxx_construct");
  static const char* const destruct = intern(".cxx_destruct");
  if (const objc_method* method = own_method(of, construct)) of->cxx_construct = method->implementation;
  if (const objc_method* method = own_method(of, destruct)) of->cxx_destruct = method->implementation;
  if (of->super_class != nullptr) of->info |= of->super_class->info & (kCounts | kBlockClass);
  of->info |= kResolved;
  meta->info |= kResolved;
  note_own_counting(of, of->methods);
}

}  // namespace smelt::objc
