# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# smelt_carry_runtime(TARGET): the C++ runtime and fmt are linked into a program or module that somebody waits for.
# Relocating those of the system takes 0.6 ms of a command that hits, 0.9 ms of an import in Python.
#
# A library that it opens has the system's copy. Objects that cross are the same in both, as libstdc++ promises for its
# ABI, and types are compared by name. libgcc stays the system's: whoever throws and whoever catches share its unwinder.
# What a runtime keeps for the whole process is there twice; that is the handler of new alone (service/sandbox).
# Nothing of the copy is exported, or it would take the place of the system's in such a library.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT SMELT_SANITIZE AND NOT SMELT_LOADER_ONLY)
  get_target_property(fmt_headers fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  if(NOT fmt_headers)
    set(fmt_headers "")
  endif()
  try_compile(SMELT_RUNTIME_INSIDE ${PROJECT_BINARY_DIR}/runtime_inside
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/fmt_inside.cpp ${CMAKE_CURRENT_LIST_DIR}/fmt_inside_check.cpp
    CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${fmt_headers} LINK_OPTIONS -static-libstdc++
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
  if(SMELT_RUNTIME_INSIDE)
    add_library(smelt_fmt_inside OBJECT ${CMAKE_CURRENT_LIST_DIR}/fmt_inside.cpp)
    target_include_directories(smelt_fmt_inside SYSTEM PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
    target_compile_options(smelt_fmt_inside PRIVATE -ffunction-sections -fdata-sections)
    set_target_properties(smelt_fmt_inside PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)
  else()
    message(STATUS "The command and Python's loader take the C++ runtime and fmt from the system: there is no static runtime, "
                   "or cmake/fmt_inside.cpp does not know this fmt")
  endif()
endif()

function(smelt_carry_runtime target)
  if(NOT SMELT_RUNTIME_INSIDE)
    return()
  endif()
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:smelt_fmt_inside>)
  target_link_options(${target} PRIVATE -static-libstdc++ -Wl,--as-needed -Wl,--gc-sections -Wl,--exclude-libs,ALL)
endfunction()
