// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "smelt/loader/library.hpp"

#include <pybind11/pybind11.h>

namespace smelt::python {

/// From the keywords of load_metallib that the loader understands.
loader::LoadOptions load_options(const pybind11::dict& from);

}  // namespace smelt::python
