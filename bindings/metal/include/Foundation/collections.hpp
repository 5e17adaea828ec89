// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Immutable collections. They own what they hold; what they give belongs to them.
#pragma once

#include "Foundation/object.hpp"

namespace NS {

class SMELT_METAL_API Array : public Copying<Array> {
 public:
  static Array* array();
  static Array* array(const Object* object);
  static Array* array(const Object* const* objects, UInteger count);
  static Array* alloc();
  Array* init();
  Array* init(const Object* const* objects, UInteger count);
  UInteger count() const;
  template <class Class = Object>
  Class* object(UInteger index) const {
    return static_cast<Class*>(at(index));
  }

 private:
  Object* at(UInteger index) const;
};

class SMELT_METAL_API Enumeration : public Referencing<Enumeration> {
 public:
  /// Null after the last one.
  Object* nextObject();
  Array* allObjects();
};
template <class Class>
class Enumerator {
 public:
  explicit Enumerator(Enumeration* from) : from_(from) {}
  Class* nextObject() { return static_cast<Class*>(from_->nextObject()); }
  Array* allObjects() { return from_->allObjects(); }
  Enumerator* operator->() { return this; }

 private:
  Enumeration* from_;
};

class SMELT_METAL_API Dictionary : public Copying<Dictionary> {
 public:
  static Dictionary* dictionary();
  static Dictionary* dictionary(const Object* object, const Object* key);
  static Dictionary* dictionary(const Object* const* objects, const Object* const* keys, UInteger count);
  static Dictionary* alloc();
  Dictionary* init();
  Dictionary* init(const Object* const* objects, const Object* const* keys, UInteger count);
  UInteger count() const;
  template <class Class = Object>
  Class* object(const Object* key) const {
    return static_cast<Class*>(find(key));
  }
  template <class KeyClass = Object>
  Enumerator<KeyClass> keyEnumerator() const {
    return Enumerator<KeyClass>(keys());
  }
  Array* allKeys() const;

 private:
  Object* find(const Object* key) const;
  Enumeration* keys() const;
};

class SMELT_METAL_API Set : public Copying<Set> {
 public:
  static Set* alloc();
  Set* init();
  Set* init(const Object* const* objects, UInteger count);
  UInteger count() const;
  bool containsObject(const Object* object) const;
  Array* allObjects() const;
  template <class Class = Object>
  Enumerator<Class> objectEnumerator() const {
    return Enumerator<Class>(enumeration());
  }

 private:
  Enumeration* enumeration() const;
};

}  // namespace NS
