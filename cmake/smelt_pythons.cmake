# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Pythons other than the build's, for which the compiled modules are built too: only the files of bindings/python/src are compiled again.
set(SMELT_PYTHONS "" CACHE STRING "Other Pythons to build the modules for: a list of interpreters; `all`: every CPython 3.9 or newer that is found; `one`: the newest of these")

set(smelt_python_facts [=[
import os, sys, sysconfig
include = sysconfig.get_paths()["include"]
if sys.implementation.name != "cpython" or sys.version_info[:2] < (3, 9):
    sys.exit("want CPython 3.9 or newer")
free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
if free and sys.argv[1] != "free-threaded":
    sys.exit("pybind11 before 2.13 does not support free-threaded Python")
if not os.path.exists(os.path.join(include, "Python.h")):
    sys.exit("its headers are not installed")
print(f"{sys.version_info[1]}{'t' if free else ''}", sysconfig.get_config_var("EXT_SUFFIX"), include, sep=";", end="")
]=])

# smelt_find_pythons(): SMELT_OTHER_PYTHONS, their minor versions, in order (14t is free-threaded 3.14); for each N the target smelt_python_3N,
# which has its headers, and the variables SMELT_PYTHON_3N (the interpreter) and SMELT_PYTHON_3N_SUFFIX.
macro(smelt_find_pythons)
  set(SMELT_OTHER_PYTHONS)
  set(free_threaded no)
  if(pybind11_VERSION VERSION_GREATER_EQUAL 2.13)
    set(free_threaded free-threaded)
  endif()
  set(asked ${SMELT_PYTHONS})
  if(SMELT_PYTHONS MATCHES "^(all|one)$")
    set(pyenv $ENV{PYENV_ROOT})
    if(NOT pyenv)
      set(pyenv $ENV{HOME}/.pyenv)
    endif()
    file(GLOB asked /usr/bin/python3.? /usr/bin/python3.?? /usr/local/bin/python3.? /usr/local/bin/python3.?? /opt/python/cp3*/bin/python ${pyenv}/versions/3.*/bin/python)
  endif()
  foreach(interpreter IN LISTS asked)
    execute_process(COMMAND ${interpreter} -I -c "${smelt_python_facts}" ${free_threaded} OUTPUT_VARIABLE facts ERROR_VARIABLE why RESULT_VARIABLE failed)
    if(failed)
      if(NOT SMELT_PYTHONS MATCHES "^(all|one)$")
        message(FATAL_ERROR "SMELT_PYTHONS: ${interpreter}: ${why}")
      endif()
      continue()
    endif()
    list(GET facts 0 minor)
    list(GET facts 1 suffix)
    if(minor IN_LIST SMELT_OTHER_PYTHONS OR suffix STREQUAL ".${Python_SOABI}${CMAKE_SHARED_MODULE_SUFFIX}")
      continue()
    endif()
    list(APPEND SMELT_OTHER_PYTHONS ${minor})
    list(GET facts 2 SMELT_PYTHON_3${minor}_HEADERS)
    set(SMELT_PYTHON_3${minor} ${interpreter})
    set(SMELT_PYTHON_3${minor}_SUFFIX ${suffix})
  endforeach()
  list(SORT SMELT_OTHER_PYTHONS COMPARE NATURAL)
  if(SMELT_PYTHONS STREQUAL "one" AND SMELT_OTHER_PYTHONS)
    list(GET SMELT_OTHER_PYTHONS -1 SMELT_OTHER_PYTHONS)
  endif()
  set(interpreters)
  foreach(minor IN LISTS SMELT_OTHER_PYTHONS)
    add_library(smelt_python_3${minor} INTERFACE)
    target_include_directories(smelt_python_3${minor} SYSTEM INTERFACE ${SMELT_PYTHON_3${minor}_HEADERS})
    target_link_options(smelt_python_3${minor} INTERFACE $<$<PLATFORM_ID:Darwin>:LINKER:-undefined,dynamic_lookup>)
    list(APPEND interpreters ${SMELT_PYTHON_3${minor}})
  endforeach()
  set_property(GLOBAL PROPERTY SMELT_OTHER_PYTHONS ${interpreters})  # for the tests
  set_property(GLOBAL PROPERTY SMELT_OTHER_MINORS ${SMELT_OTHER_PYTHONS})
  if(interpreters)
    message(STATUS "Python package: also for ${interpreters}")
  endif()
endmacro()
