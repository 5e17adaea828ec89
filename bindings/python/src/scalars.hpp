// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Python numbers as the bytes a kernel reads: 8-byte signed for int, 4-byte float for float, or what arg_casts asks
// for. docs/design/loader.md 1.3.
#pragma once

#include "parameter.hpp"

#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace smelt::python {

namespace py = pybind11;

/// `declared`: the type that the kernel declares; whoever knows the kernel puts that in its place.
enum class Cast : uint8_t {
  none,
  declared,
  fp32,
  fp16,
  bf16,
  int64,
  int32,
  int16,
  int8,
  uint64,
  uint32,
  uint16,
  uint8,
  boolean
};

/// `index` is the argument that asked, for the message (cast_unknown), or negative for all.
Cast parse_cast(py::handle word, int index);

struct ScalarBytes {
  std::array<std::byte, 8> bytes;
  uint32_t size;
};

/// An int, a bool or a float.
bool is_number(py::handle value);
/// One of NumPy's (or ml_dtypes') scalars as Python's own number; null for everything else, records and complex numbers
/// among it.
py::object number_of_numpy(py::handle value);

/// The number as a component of the type that the kernel declares; nothing when it is none: a fraction for whole
/// numbers, or out of the type's range. `parameter` is numeric. Floating point is rounded to nearest.
std::optional<ScalarBytes> declared_bytes(py::handle value, const Parameter& parameter);

/// `value` is an int (or bool) or a float; anything else has no value. `index` is for messages.
std::optional<ScalarBytes> scalar_bytes(py::handle value, Cast cast, size_t index);
ScalarBytes float_bytes(double value, Cast cast);
ScalarBytes integer_bytes(py::handle value, Cast cast, size_t index);

}  // namespace smelt::python
