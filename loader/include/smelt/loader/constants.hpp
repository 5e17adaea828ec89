// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values for function constants, as a caller gives them; the loader fits them to the kernel's own types.
#pragma once

#include "smelt/loader/types.hpp"

#include <initializer_list>
#include <variant>

namespace smelt::loader {

/// A number or truth value of a function constant.
using Scalar = std::variant<bool, int64_t, uint64_t, double>;

/// A value for one function constant: a scalar, or the components of a vector. It must fit the constant's type: an
/// integer that is out of range, or a fraction for an integer, is `constant_type`; a float is rounded.
struct ConstantValue {
  std::variant<uint32_t, std::string> key;  ///< the constant's index or name
  std::vector<Scalar> components;           ///< one for a scalar
};

/// Values for the function constants of a kernel: `ConstantValues().set("factor", 2.5)`. Values that a kernel does not
/// declare are ignored, so you can pass one set to every kernel.
class ConstantValues {
 public:
  /// No values.
  ConstantValues() = default;
  /// These values.
  ConstantValues(std::initializer_list<ConstantValue> values) : values_(values) {}

  /// Sets a scalar by its index.
  ConstantValues& set(uint32_t index, Scalar value) { return add({index, {value}}); }
  /// Sets a scalar by its name.
  ConstantValues& set(std::string name, Scalar value) { return add({std::move(name), {value}}); }
  /// Adds a value, which may be a vector.
  ConstantValues& add(ConstantValue value) {
    values_.push_back(std::move(value));
    return *this;
  }
  /// Treats values as Metal's MTLFunctionConstantValues: numbers are converted as in C (to bool: whether it is not 0),
  /// and a required value that is missing is 0.
  ConstantValues& lenient(bool on = true) {
    lenient_ = on;
    return *this;
  }
  /// Whether lenient() was called.
  bool is_lenient() const { return lenient_; }
  /// All values, in the order in which they were added.
  const std::vector<ConstantValue>& values() const { return values_; }
  /// Whether there are no values.
  bool empty() const { return values_.empty(); }

 private:
  std::vector<ConstantValue> values_;
  bool lenient_ = false;
};

}  // namespace smelt::loader
