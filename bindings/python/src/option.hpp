// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of keywords, as C++ wants them.
#pragma once

#include "errors.hpp"

#include <pybind11/stl.h>

#include <string>
#include <string_view>
#include <type_traits>

namespace smelt::python {

/// How a message calls what fits.
template <class T>
constexpr std::string_view wanted_for() {
  if constexpr (std::is_same_v<T, bool>) return "True or False";
  if constexpr (std::is_unsigned_v<T>) return sizeof(T) == 8 ? "a whole number" : "a small whole number";
  if constexpr (std::is_floating_point_v<T>) return "a number";
  if constexpr (std::is_same_v<T, std::string>) return "a str";
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return "a sequence of str";
  return "a pair of whole numbers";
}

/// `value` as a T; an argument error names the keyword, what it takes and what it got.
template <class T>
T option_as(py::handle value, std::string_view name) {
  try {
    return py::cast<T>(value);
  } catch (const py::cast_error&) {
    raise(Errc::invalid_argument, "{}: want {}, got {}", name, wanted_for<T>(), py::cast<std::string>(py::repr(value)));
  }
}

}  // namespace smelt::python
