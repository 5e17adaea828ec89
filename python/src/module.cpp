// smelt._smelt: loader and service for Python. What people import is python/smelt; this is its engine room.
#include "buffers.hpp"
#include "kernel.hpp"

PYBIND11_MODULE(_smelt, module) {
  module.doc() = "The engine of smelt: libraries, kernels, packages, compiling. Use the package smelt.";
  smelt::python::bind_memory(module);
  smelt::python::bind_kernel(module);
  smelt::python::bind_library(module);
  smelt::python::bind_service(module);
}
