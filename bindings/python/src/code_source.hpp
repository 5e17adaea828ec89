// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CPU code that Python gets from the store or the compiler when a kernel is first read (smelt/_on_demand.py).
#pragma once

#include "smelt/base/checks.hpp"
#include "smelt/loader/code_source.hpp"

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>

namespace smelt::python {

namespace py = pybind11;

/// `source.code(name, metallib)` gives a package's bytes, the effort that went into it, and whether better code may
/// take its place; then `source.improve(pipeline, name, metallib)` is called once when the kernel has run for long, by
/// a thread of its own: it makes that code and gives it to `pipeline.replace(package, effort)`. `checked` is the
/// library's.
std::shared_ptr<loader::CodeSource> code_source(py::object source, Checks checked);

/// While it lives, what a code source throws on this thread is kept, to be thrown on as it was: a KeyboardInterrupt, a
/// class of the caller's. On other threads, and without one, it is an Error with its code and message.
class SourceErrors {
 public:
  SourceErrors();
  ~SourceErrors();
  SourceErrors(const SourceErrors&) = delete;
  SourceErrors& operator=(const SourceErrors&) = delete;

  /// With the GIL.
  void rethrow();
  static void keep(py::error_already_set&& error);

 private:
  SourceErrors* const outer_;
  std::optional<py::error_already_set> thrown_;
};

void bind_code_source(py::module_& module);

}  // namespace smelt::python
