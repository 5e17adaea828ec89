// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ctrl-C while C++ works: Python's handlers run only when somebody asks, and the interpreter cannot.
#pragma once

#include "gil.hpp"

namespace smelt::python {

/// Runs Python's handlers of the signals that have arrived, which happens on the main thread alone. Called without the
/// GIL. True when a handler raised; its exception (KeyboardInterrupt) waits in this thread for rethrow_signals().
inline bool signals_arrived() {
  if (interpreter_ends()) return !is_main_thread();  // nobody will look at what comes of the work
  const GilTaken gil;
  return PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0;
}

/// With the GIL, after the work that asked: what a handler raised meanwhile.
inline void rethrow_signals() {
  if (PyErr_Occurred() != nullptr) throw pybind11::error_already_set();
}

}  // namespace smelt::python
