// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Foundation/collections.hpp"

#include "foundation/made.hpp"

#include <unordered_map>
#include <utility>

namespace smelt::metal {
namespace {

using Kept = NS::SharedPtr<NS::Object>;

Kept keep(const NS::Object* object) {
  return NS::RetainPtr(const_cast<NS::Object*>(object));
}

struct ByValue {
  size_t operator()(const Kept& object) const { return object->hash(); }
  bool operator()(const Kept& a, const Kept& b) const { return a->isEqual(b.get()); }
};

class ArrayObject final : public NS::Array {
 public:
  std::vector<Kept> objects;
  std::string_view class_name() const override { return "NSArray"; }

 protected:
  NS::UInteger hash_value() const override { return objects.size(); }
  bool equals(const NS::Object& other) const override {
    const auto* array = dynamic_cast<const ArrayObject*>(&other);
    if (array == nullptr || array->objects.size() != objects.size()) return false;
    for (size_t i = 0; i < objects.size(); ++i)
      if (!objects[i]->isEqual(array->objects[i].get())) return false;
    return true;
  }
  NS::String* describe() const override {
    std::string text = "(";
    for (const Kept& object : objects)
      text += (text.size() == 1 ? "\n    " : ",\n    ") + object->description()->text();
    return string_of(text + "\n)");
  }
};

class EnumerationObject final : public NS::Enumeration {
 public:
  std::vector<Kept> objects;
  size_t next = 0;
  std::string_view class_name() const override { return "NSEnumerator"; }
};

class DictionaryObject final : public NS::Dictionary {
 public:
  std::vector<Kept> order;  // of the keys
  std::unordered_map<Kept, Kept, ByValue, ByValue> objects;
  std::string_view class_name() const override { return "NSDictionary"; }

 protected:
  NS::UInteger hash_value() const override { return objects.size(); }
  bool equals(const NS::Object& other) const override {
    const auto* dictionary = dynamic_cast<const DictionaryObject*>(&other);
    if (dictionary == nullptr || dictionary->objects.size() != objects.size()) return false;
    for (const auto& [key, object] : objects) {
      const auto there = dictionary->objects.find(key);
      if (there == dictionary->objects.end() || !there->second->isEqual(object.get())) return false;
    }
    return true;
  }
};

class SetObject final : public NS::Set {
 public:
  std::vector<Kept> order;
  std::unordered_map<Kept, bool, ByValue, ByValue> objects;
  std::string_view class_name() const override { return "NSSet"; }
};

NS::Enumeration* enumerate(const std::vector<Kept>& objects) {
  auto* made = new EnumerationObject;
  made->objects = objects;
  made->autorelease();
  return made;
}

NS::Array* array_from(const std::vector<Kept>& objects) {
  auto* made = new ArrayObject;
  made->objects = objects;
  made->autorelease();
  return made;
}

}  // namespace

NS::Array* array_of(const std::vector<NS::Object*>& objects) {
  return NS::Array::array(objects.data(), objects.size());
}

}  // namespace smelt::metal

namespace NS {
using namespace smelt::metal;

Array* Array::array() {
  return alloc()->autorelease();
}
Array* Array::array(const Object* object) {
  return array(&object, 1);
}
Array* Array::array(const Object* const* objects, UInteger count) {
  return alloc()->init(objects, count)->autorelease();
}
Array* Array::alloc() {
  return new ArrayObject;
}
Array* Array::init() {
  return this;
}
Array* Array::init(const Object* const* objects, UInteger count) {
  for (UInteger i = 0; i < count; ++i) static_cast<ArrayObject*>(this)->objects.push_back(keep(objects[i]));
  return this;
}
UInteger Array::count() const {
  return static_cast<const ArrayObject*>(this)->objects.size();
}
Object* Array::at(UInteger index) const {
  const auto& objects = static_cast<const ArrayObject*>(this)->objects;
  return index < objects.size() ? objects[index].get() : nullptr;
}

Object* Enumeration::nextObject() {
  auto& from = static_cast<EnumerationObject&>(*this);
  return from.next < from.objects.size() ? from.objects[from.next++].get() : nullptr;
}
Array* Enumeration::allObjects() {
  auto& from = static_cast<EnumerationObject&>(*this);
  const std::vector<Kept> rest(from.objects.begin() + static_cast<ptrdiff_t>(from.next), from.objects.end());
  from.next = from.objects.size();
  return array_from(rest);
}

Dictionary* Dictionary::dictionary() {
  return alloc()->autorelease();
}
Dictionary* Dictionary::dictionary(const Object* object, const Object* key) {
  return dictionary(&object, &key, 1);
}
Dictionary* Dictionary::dictionary(const Object* const* objects, const Object* const* keys, UInteger count) {
  return alloc()->init(objects, keys, count)->autorelease();
}
Dictionary* Dictionary::alloc() {
  return new DictionaryObject;
}
Dictionary* Dictionary::init() {
  return this;
}
Dictionary* Dictionary::init(const Object* const* objects, const Object* const* keys, UInteger count) {
  auto& to = static_cast<DictionaryObject&>(*this);
  for (UInteger i = 0; i < count; ++i)
    if (to.objects.insert_or_assign(keep(keys[i]), keep(objects[i])).second) to.order.push_back(keep(keys[i]));
  return this;
}
UInteger Dictionary::count() const {
  return static_cast<const DictionaryObject*>(this)->objects.size();
}
Object* Dictionary::find(const Object* key) const {
  if (key == nullptr) return nullptr;
  const auto& objects = static_cast<const DictionaryObject*>(this)->objects;
  const auto found = objects.find(keep(key));
  return found != objects.end() ? found->second.get() : nullptr;
}
Enumeration* Dictionary::keys() const {
  return enumerate(static_cast<const DictionaryObject*>(this)->order);
}
Array* Dictionary::allKeys() const {
  return array_from(static_cast<const DictionaryObject*>(this)->order);
}

Set* Set::alloc() {
  return new SetObject;
}
Set* Set::init() {
  return this;
}
Set* Set::init(const Object* const* objects, UInteger count) {
  auto& to = static_cast<SetObject&>(*this);
  for (UInteger i = 0; i < count; ++i)
    if (to.objects.emplace(keep(objects[i]), true).second) to.order.push_back(keep(objects[i]));
  return this;
}
UInteger Set::count() const {
  return static_cast<const SetObject*>(this)->objects.size();
}
bool Set::containsObject(const Object* object) const {
  return object != nullptr && static_cast<const SetObject*>(this)->objects.contains(keep(object));
}
Array* Set::allObjects() const {
  return array_from(static_cast<const SetObject*>(this)->order);
}
Enumeration* Set::enumeration() const {
  return enumerate(static_cast<const SetObject*>(this)->order);
}

}  // namespace NS
