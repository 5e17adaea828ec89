// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The GIL, given up and taken, also where the interpreter ends meanwhile. Python ends a thread that asks for the GIL
// then (a daemon thread's, one of ours) by unwinding it from within; our destructors may not throw, so that this is the
// end of the process. Such a thread sleeps for the rest of the process instead, as Python 3.14 does.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

#ifdef __APPLE__
#include <pthread.h>
#else
#include <sys/syscall.h>
#endif

namespace smelt::python {

[[noreturn]] inline void sleep_to_the_end() {
  for (;;) ::pause();
}

inline bool interpreter_ends() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsInitialized() == 0 || Py_IsFinalizing() != 0;
#else
  return Py_IsInitialized() == 0 || _Py_IsFinalizing() != 0;
#endif
}

/// Says that the interpreter's end waits for this thread, so that it must not sleep. Each module has a copy of this
/// code; what they share is the interpreter's state of the thread. The GIL is held.
inline void mark_waited_for() {
  PyDict_SetItemString(PyThreadState_GetDict(), "smelt waits for it", Py_True);
}
inline bool is_waited_for() {
  PyObject* const state = PyThreadState_GetDict();
  return state != nullptr && PyDict_GetItemString(state, "smelt waits for it") != nullptr;
}

/// The thread that the process began with, which finalizes Python's own interpreter.
inline bool is_main_thread() {
#ifdef __APPLE__
  return ::pthread_main_np() != 0;
#else
  return ::syscall(SYS_gettid) == ::getpid();
#endif
}

/// Runs what asks for the GIL. It may begin to end while that waits: then the unwinding comes by here.
template <class Ask>
auto ask_for_gil(Ask&& ask) {
  if (interpreter_ends() && !is_main_thread()) sleep_to_the_end();
  try {
    return ask();
  } catch (...) {
    sleep_to_the_end();  // never left: this unwinding may not be caught, only stopped
  }
}

/// Gives the GIL up for a scope.
class GilReleased {
 public:
  GilReleased() : state_(PyEval_SaveThread()) {}
  ~GilReleased() {
    ask_for_gil([&] { PyEval_RestoreThread(state_); });
  }
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* const state_;
};

/// Takes the GIL for a scope, on any thread. Who has nothing to say while the interpreter ends, asks that first: a
/// thread that others wait for must not sleep.
class GilTaken {
 public:
  GilTaken() : state_(ask_for_gil([] { return PyGILState_Ensure(); })) {}
  ~GilTaken() { PyGILState_Release(state_); }
  GilTaken(const GilTaken&) = delete;
  GilTaken& operator=(const GilTaken&) = delete;

 private:
  const PyGILState_STATE state_;
};

}  // namespace smelt::python
