// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that a program has by its address alone, as runtimes do that allocate for themselves: smelt.Buffer.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>

namespace smelt::python {

namespace py = pybind11;

/// Bytes at an address. They are neither allocated nor freed here; `owner` is kept alive as long as the buffer or a
/// slice of it.
struct AddressedBuffer {
  std::byte* data = nullptr;
  uint64_t size = 0;
  bool writable = true;
  py::object owner;
};

/// Null when `value` is something else.
const AddressedBuffer* addressed_buffer(py::handle value);

void bind_addressed(py::module_& module);

}  // namespace smelt::python
