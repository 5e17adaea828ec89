// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "addressed.hpp"

#include "docstrings.hpp"
#include "errors.hpp"

#include <bit>
#include <limits>

namespace smelt::python {
namespace {

using namespace pybind11::literals;

uint64_t number(const py::int_& value, const char* what) {
  const unsigned long long bits = PyLong_AsUnsignedLongLong(value.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    raise(Errc::invalid_argument, "Buffer: want {} from 0 to 2^64 - 1, got {}", what,
          py::cast<std::string>(py::repr(value)));
  }
  return bits;
}

AddressedBuffer make_buffer(const py::int_& address, const py::int_& size, bool writable, py::object owner) {
  const uint64_t at = number(address, "an address");
  const uint64_t bytes = number(size, "a size in bytes");
  if (bytes > static_cast<uint64_t>(PY_SSIZE_T_MAX) || at > std::numeric_limits<uint64_t>::max() - bytes)
    raise(Errc::invalid_argument, "Buffer: {} bytes at {:#x} end past the last address", bytes, at);
  if (at == 0 && bytes != 0)
    raise(Errc::invalid_argument, "Buffer: address 0 with {} bytes; no memory is there", bytes);
  return {std::bit_cast<std::byte*>(at), bytes, writable, std::move(owner)};
}

AddressedBuffer slice(const AddressedBuffer& buffer, const py::slice& range) {
  py::ssize_t start = 0, stop = 0, step = 0, length = 0;
  if (!range.compute(static_cast<py::ssize_t>(buffer.size), &start, &stop, &step, &length))
    throw py::error_already_set();
  if (step != 1)
    raise(Errc::invalid_argument, "Buffer: a slice with step {}; a part of a buffer is contiguous bytes", step);
  return {buffer.data + start, static_cast<uint64_t>(length), buffer.writable, buffer.owner};
}

/// Asked of every array of every call, so without pybind11's search among its types.
PyTypeObject* buffer_type = nullptr;

}  // namespace

const AddressedBuffer* addressed_buffer(py::handle value) {
  if (PyObject_TypeCheck(value.ptr(), buffer_type) == 0) return nullptr;
  return &py::cast<const AddressedBuffer&>(value);
}

void bind_addressed(py::module_& module) {
  py::class_<AddressedBuffer> type(module, "Buffer", py::buffer_protocol(), kBuffer);
  buffer_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  type.def(py::init(&make_buffer), "address"_a, "size"_a, py::kw_only(), "writable"_a = true, "owner"_a = py::none())
      .def_property_readonly("address", [](const AddressedBuffer& self) { return std::bit_cast<uint64_t>(self.data); })
      .def_property_readonly("size", [](const AddressedBuffer& self) { return self.size; })
      .def_readonly("writable", &AddressedBuffer::writable)
      .def_readonly("owner", &AddressedBuffer::owner)
      .def("__len__", [](const AddressedBuffer& self) { return self.size; })
      .def("__getitem__", &slice)
      .def("__repr__",
           [](const AddressedBuffer& self) {
             return fmt::format("<smelt.Buffer of {} bytes at {:#x}{}>", self.size, std::bit_cast<uint64_t>(self.data),
                                self.writable ? "" : ", read-only");
           })
      .def_buffer([](AddressedBuffer& self) {
        return py::buffer_info(self.data, 1, py::format_descriptor<uint8_t>::format(), 1,
                               {static_cast<py::ssize_t>(self.size)}, {py::ssize_t{1}}, !self.writable);
      });
}

}  // namespace smelt::python
