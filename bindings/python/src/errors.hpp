// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where Result<T> ends and Python's exceptions begin. The classes are in smelt/errors.py, chosen there by code.
#pragma once

#include "smelt/base/result.hpp"

#include <pybind11/pybind11.h>

#include <functional>

namespace smelt::python {

namespace py = pybind11;

/// Throws the Python exception for the error. The GIL must be held.
[[noreturn]] void raise(const Error& error);

template <class... Args>
[[noreturn]] void raise(Errc code, fmt::format_string<Args...> format, Args&&... args) {
  raise(Error{code, fmt::format(format, std::forward<Args>(args)...), {}});
}

template <class T>
T unwrap(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(*result);
}
inline void unwrap(Result<void> result) {
  if (!result) raise(result.error());
}

inline py::str text(std::string_view view) {
  return py::str(view.data(), view.size());
}

/// Calls `callable` with each warning. From any thread, also while the interpreter goes down, so it is never freed.
std::function<void(std::string_view)> warns_by(py::object callable, const char* what);

/// "numpy.float32": how messages name a value's type.
std::string type_name(py::handle value);

}  // namespace smelt::python
