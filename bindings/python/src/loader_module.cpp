// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt._loader: libraries, kernels, packages and devices. Needs neither LLVM nor SQLite; it is what `import smelt` and
// a model's first kernel wait for.
#include "smelt/smelt.h"

#include "addressed.hpp"
#include "buffers.hpp"
#include "code_source.hpp"
#include "kernel.hpp"
#include "texture.hpp"

PYBIND11_MODULE(_loader, module) {
  module.doc() = "The loader of smelt: libraries, kernels and packages. Use the package smelt.";
  module.attr("version") = smelt_version();
  smelt::python::bind_memory(module);
  smelt::python::bind_addressed(module);
  smelt::python::bind_code_source(module);
  smelt::python::bind_device(module);
  smelt::python::bind_texture(module);
  smelt::python::bind_kernel(module);
  smelt::python::bind_library(module);
  smelt::python::bind_package(module);
}
