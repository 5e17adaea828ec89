// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "buffers.hpp"

#include "errors.hpp"
#include "gil.hpp"

namespace smelt::python {

std::shared_ptr<const BorrowedBuffer> BorrowedBuffer::from(py::handle value, std::string_view what) {
  std::shared_ptr<BorrowedBuffer> borrowed(new BorrowedBuffer);
  if (PyObject_GetBuffer(value.ptr(), &borrowed->buffer_, PyBUF_SIMPLE) != 0) {
    PyErr_Clear();
    raise(Errc::source_type, "{}: want bytes or another object with a contiguous buffer, got {}", what,
          type_name(value));
  }
  return borrowed;
}

BorrowedBuffer::~BorrowedBuffer() {
  if (buffer_.obj == nullptr || interpreter_ends()) return;
  const GilTaken gil;
  PyBuffer_Release(&buffer_);
}

namespace {

/// Exports somebody else's bytes to Python.
struct Memory {
  ByteView bytes;
  std::shared_ptr<const void> owner;
};

}  // namespace

void bind_memory(py::module_& module) {
  py::class_<Memory>(module, "_Memory", py::buffer_protocol(), py::module_local()).def_buffer([](Memory& memory) {
    return py::buffer_info(const_cast<std::byte*>(memory.bytes.data()), 1, py::format_descriptor<uint8_t>::format(), 1,
                           {static_cast<py::ssize_t>(memory.bytes.size())}, {py::ssize_t{1}}, /*readonly=*/true);
  });
}

py::object memory_over(ByteView bytes, std::shared_ptr<const void> owner) {
  const py::object memory = py::cast(Memory{bytes, std::move(owner)});
  return py::reinterpret_steal<py::object>(PyMemoryView_FromObject(memory.ptr()));
}

std::string path_text(py::handle value, std::string_view what) {
  const py::object path = py::reinterpret_steal<py::object>(PyOS_FSPath(value.ptr()));
  if (!path) {
    PyErr_Clear();
    raise(Errc::source_type, "{}: want a path, got {}", what, type_name(value));
  }
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &encoded) == 0) throw py::error_already_set();
  const auto owned = py::reinterpret_steal<py::bytes>(encoded);
  return owned;
}

}  // namespace smelt::python
