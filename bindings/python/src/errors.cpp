// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "errors.hpp"

#include "gil.hpp"

namespace smelt::python {

void raise(const Error& error) {
  const py::object from_code = py::module_::import("smelt.errors").attr("from_code");
  const std::string_view code = to_string(error.code);
  const py::object exception =
      from_code(py::str(code.data(), code.size()), py::str(error.message), py::str(error.subject));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw py::error_already_set();
}

std::function<void(std::string_view)> warns_by(py::object callable, const char* what) {
  auto* const kept = new py::object(std::move(callable));
  return [kept, what](std::string_view line) {
    if (interpreter_ends()) return;
    const GilTaken gil;
    try {
      (*kept)(text(line));
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable(what);
    }
  };
}

std::string type_name(py::handle value) {
  const py::handle type = reinterpret_cast<PyObject*>(Py_TYPE(value.ptr()));
  const std::string name = py::cast<std::string>(type.attr("__qualname__"));
  const py::object module = py::getattr(type, "__module__", py::none());
  if (!py::isinstance<py::str>(module)) return name;
  const std::string where = py::cast<std::string>(module);
  return where == "builtins" ? name : where + "." + name;
}

}  // namespace smelt::python
