// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fields of a record, read from NumPy's dtype or from the format of a buffer (PEP 3118): "T{f:a:(3)f:pos:4x}".
#pragma once

#include "smelt/loader/argument_rule.hpp"

#include <pybind11/pybind11.h>

#include <optional>
#include <string_view>
#include <vector>

namespace smelt::python {

/// Each value by its whole name ("inner.scale", "more[1].axis"), in the order of the format; what has no name is
/// padding. `size`: bytes of the record. `natural`: members may lie at multiples of their own size without the format
/// saying so, as older ctypes has it. Nothing for a format of another kind, of another size, or of more than 1,024
/// values.
std::optional<std::vector<loader::HostField>> read_record(std::string_view format, uint64_t size, bool natural);

/// The same of NumPy's dtype, whose format does not say how far elements of an array of records are apart.
std::optional<std::vector<loader::HostField>> read_record(const pybind11::object& dtype);

}  // namespace smelt::python
