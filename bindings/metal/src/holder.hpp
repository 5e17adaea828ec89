// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Descriptors: objects that only hold values, are changed by setters, and are copied by copy().
#pragma once

#include "foundation/made.hpp"

namespace smelt::metal {

/// `Values` has a kClass, "MTLCompileOptions", and the values as members.
template <class Public, class Values>
class Holder final : public Public {
 public:
  Values values;
  std::string_view class_name() const override { return Values::kClass; }

 protected:
  NS::Object* make_copy() override {
    auto* made = new Holder;
    made->values = values;
    return made;
  }
};

}  // namespace smelt::metal

// The functions of a descriptor CLASS whose values are a VALUES.
#define SMELT_DESCRIPTOR(CLASS, VALUES)                                             \
  namespace {                                                                       \
  [[maybe_unused]] const VALUES& values_of(const CLASS* object) {                   \
    return static_cast<const smelt::metal::Holder<CLASS, VALUES>*>(object)->values; \
  }                                                                                 \
  [[maybe_unused]] VALUES& values_of(CLASS* object) {                               \
    return static_cast<smelt::metal::Holder<CLASS, VALUES>*>(object)->values;       \
  }                                                                                 \
  }                                                                                 \
  CLASS* CLASS::alloc() {                                                           \
    return new smelt::metal::Holder<CLASS, VALUES>;                                 \
  }                                                                                 \
  CLASS* CLASS::init() {                                                            \
    return this;                                                                    \
  }

// A property that is a plain value.
#define SMELT_VALUE(CLASS, TYPE, GET, SET, MEMBER) \
  TYPE CLASS::GET() const {                        \
    return values_of(this).MEMBER;                 \
  }                                                \
  void CLASS::SET(TYPE value) {                    \
    values_of(this).MEMBER = value;                \
  }

// A property that is an object: kept, and a copy where Metal says copy, which for immutable objects is the same.
#define SMELT_OBJECT(CLASS, TYPE, GET, SET, MEMBER)                   \
  TYPE* CLASS::GET() const {                                          \
    return values_of(this).MEMBER.get();                              \
  }                                                                   \
  void CLASS::SET(const TYPE* value) {                                \
    values_of(this).MEMBER = NS::RetainPtr(const_cast<TYPE*>(value)); \
  }
