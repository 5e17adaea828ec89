// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values for function constants, as a caller gives them; the loader fits them to the kernel's own types.
#pragma once

#include "smelt/loader/types.hpp"

#include <initializer_list>
#include <variant>

namespace smelt::loader {

using Scalar = std::variant<bool, int64_t, uint64_t, double>;

/// One function constant: named by index or by name, a scalar or the components of a vector.
/// A value must fit its type exactly: an integer that is out of range, or a fraction for an integer, is
/// `constant_type`; a float is rounded to its type.
struct ConstantValue {
  std::variant<uint32_t, std::string> key;
  std::vector<Scalar> components;
};

class ConstantValues {
 public:
  ConstantValues() = default;
  ConstantValues(std::initializer_list<ConstantValue> values) : values_(values) {}

  ConstantValues& set(uint32_t index, Scalar value) { return add({index, {value}}); }
  ConstantValues& set(std::string name, Scalar value) { return add({std::move(name), {value}}); }
  ConstantValues& add(ConstantValue value) {
    values_.push_back(std::move(value));
    return *this;
  }
  /// As Metal's own MTLFunctionConstantValues are used: numbers are converted as C converts them (to bool: is it 0),
  /// and what is needed and missing is 0. Values that a kernel does not declare are passed over either way, so a
  /// program may hand one set of values to every kernel.
  ConstantValues& lenient(bool on = true) {
    lenient_ = on;
    return *this;
  }
  bool is_lenient() const { return lenient_; }
  const std::vector<ConstantValue>& values() const { return values_; }
  bool empty() const { return values_.empty(); }

 private:
  std::vector<ConstantValue> values_;
  bool lenient_ = false;
};

}  // namespace smelt::loader
