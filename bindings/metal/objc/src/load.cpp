// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// __objc_load: what a library's initialiser hands over when it is loaded. Classes become usable, categories join their
// classes (when those come later, then), protocols of one name become one, and +load is sent, superclasses first.
#include "runtime.hpp"

#include <cstring>
#include <unordered_map>

namespace smelt::objc {

namespace {

constexpr uint64_t kDone = ~uint64_t{0};  // in place of an objc_init's version

struct Loaded {
  std::unordered_map<std::string_view, objc_protocol*> protocols;
  std::vector<objc_category*> waiting;  // for their class
  Class protocol_class = nullptr;
};
Loaded& loaded() {
  static auto* all = new Loaded;
  return *all;
}

void register_protocol(objc_protocol* protocol) {
  for (ProtocolMethodList* list : protocol->methods)
    for (int32_t i = 0; list != nullptr && i < list->count; ++i) register_selector(list->methods[i].selector);
  protocol->isa = loaded().protocol_class;
}

// The protocol that stands for all of its name: the first one that was loaded.
objc_protocol* unique(objc_protocol* protocol) {
  const auto [at, added] = loaded().protocols.emplace(protocol->name, protocol);
  if (added) register_protocol(protocol);
  return at->second;
}

void unite(objc_protocol_list* list) {
  for (; list != nullptr; list = list->next)
    for (int64_t i = 0; i < list->count; ++i) list->protocols[i] = unique(list->protocols[i]);
}

void join(Class to, objc_method_list* list) {
  if (list == nullptr || list->count == 0) return;
  for (int32_t i = 0; i < list->count; ++i) register_selector(list->methods[i].selector);
  list->next = to->methods;
  to->methods = list;
  note_own_counting(to, list);
}

template <typename List>
void join_list(List*& to, List* list) {
  if (list == nullptr || list->count == 0) return;
  list->next = to;
  to = list;
}

bool attach(objc_category* category) {
  const Class to = find_class(category->class_name);
  if (to == nullptr) return false;
  join(to, category->instance_methods);
  join(to->isa, category->class_methods);
  unite(category->protocols);
  join_list(to->protocols, category->protocols);
  join_list(to->properties, category->properties);
  join_list(to->isa->properties, category->class_properties);
  return true;
}

// The +load of this list alone: one does not replace another.
void send_load(Class of, const objc_method_list* list) {
  static const char* const name = intern("load");
  for (int32_t i = 0; list != nullptr && i < list->count; ++i)
    if (list->methods[i].selector->name == name)
      reinterpret_cast<void (*)(Class, SEL)>(list->methods[i].implementation)(of, list->methods[i].selector);
}

void send_class_load(Class of) {
  if (of == nullptr || of->state->load_sent) return;
  send_class_load(of->super_class);
  of->state->load_sent = true;
  send_load(of, of->state->load_methods);
}

// With the lock. Returns the categories that found their class.
std::vector<objc_category*> attach_all(objc_init* init) {
  auto& waiting = loaded().waiting;
  for (objc_category* category = init->categories; category != init->categories_end; ++category)
    if (category->class_name != nullptr) waiting.push_back(category);
  std::vector<objc_category*> attached, left;
  for (objc_category* category : waiting) (attach(category) ? attached : left).push_back(category);
  waiting = std::move(left);
  if (!attached.empty()) forget_caches();
  return attached;
}

void load_protocols(objc_init* init) {
  for (objc_protocol* protocol = init->protocols; protocol != init->protocols_end; ++protocol)
    if (protocol->name != nullptr) unite(unique(protocol)->protocols);
  for (objc_protocol** ref = init->protocol_refs; ref != init->protocol_refs_end; ++ref)
    if (*ref != nullptr) *ref = unique(*ref);
}

// The class of protocols as objects comes with the program's root class.
void find_protocol_class() {
  if (loaded().protocol_class != nullptr) return;
  loaded().protocol_class = find_class("Protocol");
  for (const auto& [name, protocol] : loaded().protocols) protocol->isa = loaded().protocol_class;
}

}  // namespace

objc_protocol* find_protocol(std::string_view name) {
  std::lock_guard guard(runtime_lock());
  const auto at = loaded().protocols.find(name);
  return at != loaded().protocols.end() ? at->second : nullptr;
}

}  // namespace smelt::objc

using namespace smelt::objc;

SMELT_OBJC_EXPORT void __objc_load(objc_init* init) {
  std::vector<Class> fresh;
  std::vector<objc_category*> attached;
  {
    std::lock_guard guard(runtime_lock());
    if (init->version == kDone) return;
    if (init->version != 0)
      fatal("a library has metadata of version %lu, not 0", static_cast<unsigned long>(init->version));
    for (objc_selector* selector = init->selectors; selector != init->selectors_end; ++selector)
      register_selector(selector);
    load_protocols(init);
    for (Class* entry = init->classes; entry != init->classes_end; ++entry) {
      const Class made = *entry;
      if (made == nullptr || made->state != nullptr) continue;
      if (!add_class(made)) fatal("two classes are named '%s'", made->name);
      set_state(made);
      made->state->load_methods = made->isa->methods;
      fresh.push_back(made);
    }
    for (const Class made : fresh) {
      resolve(made);
      unite(made->protocols);
    }
    find_protocol_class();
    for (objc_alias* alias = init->aliases; alias != init->aliases_end; ++alias)
      if (alias->name != nullptr && alias->alias != nullptr) *alias->alias = find_class(alias->name);
    attached = attach_all(init);
    init->version = kDone;
  }
  for (const Class made : fresh) send_class_load(made);
  for (objc_category* category : attached) send_load(find_class(category->class_name), category->class_methods);
}
