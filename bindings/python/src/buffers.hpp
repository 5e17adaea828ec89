// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes that come from Python, borrowed for as long as somebody on our side holds them.
#pragma once

#include "smelt/base/bytes.hpp"

#include <pybind11/pybind11.h>

#include <memory>

namespace smelt::python {

namespace py = pybind11;

/// A contiguous view of anything with the buffer protocol. While it lives the exporter can neither move nor free the
/// bytes. May be dropped from any thread: it takes the GIL to let go.
class BorrowedBuffer {
 public:
  /// `what` is for the message when `value` has no contiguous buffer (source_type). The GIL must be held.
  static std::shared_ptr<const BorrowedBuffer> from(py::handle value, std::string_view what);
  ~BorrowedBuffer();
  BorrowedBuffer(const BorrowedBuffer&) = delete;
  BorrowedBuffer& operator=(const BorrowedBuffer&) = delete;
  ByteView bytes() const { return {static_cast<const std::byte*>(buffer_.buf), static_cast<size_t>(buffer_.len)}; }

 private:
  BorrowedBuffer() = default;
  Py_buffer buffer_{};
};

inline py::bytes to_python(ByteView bytes) {
  return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// A read-only memoryview over bytes that `owner` keeps alive.
py::object memory_over(ByteView bytes, std::shared_ptr<const void> owner);
/// Adds the class behind memory_over to the module. Once per module.
void bind_memory(py::module_& module);

/// os.fspath as text.
std::string path_text(py::handle value, std::string_view what);

}  // namespace smelt::python
