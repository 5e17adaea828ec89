// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the library's own files use of Foundation: strings from and to C++, and errors.
#pragma once

#include "Foundation/Foundation.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::metal {

/// A string owned by the caller.
NS::String* new_string(std::string_view text);
/// A string that belongs to the innermost pool.
NS::String* string_of(std::string_view text);
/// Empty for null.
std::string text_of(const NS::String* string);
/// An array that belongs to the innermost pool; it retains the objects.
NS::Array* array_of(const std::vector<NS::Object*>& objects);
/// Sets *out, if there is one, to an error of the innermost pool whose description is `message`. Gives null, so that
/// `return fail_with(...)` reads well.
std::nullptr_t fail_with(NS::Error** out, const char* domain, NS::Integer code, std::string_view message);
NS::Error* error_of(const char* domain, NS::Integer code, std::string_view message);

/// A property that holds a copy of a string.
class Label {
 public:
  NS::String* get() const { return string_.get(); }
  void set(const NS::String* string) { string_ = NS::RetainPtr(const_cast<NS::String*>(string)); }

 private:
  NS::SharedPtr<NS::String> string_;
};

}  // namespace smelt::metal

// The label and the device of a CLASS. LABEL is its Label, and may say `this`.
#define SMELT_LABEL_AND_DEVICE(CLASS, LABEL, DEVICE) \
  NS::String* CLASS::label() const {                 \
    return (LABEL).get();                            \
  }                                                  \
  void CLASS::setLabel(const NS::String* label) {    \
    (LABEL).set(label);                              \
  }                                                  \
  Device* CLASS::device() const {                    \
    return DEVICE;                                   \
  }
