# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# smelt_add_library(NAME SOURCES file... [TARGETS macos14...] [CPU level...|NO_CPU] [STD metal3.1] [FAST_MATH]
#                   [INCLUDE_DIRECTORIES folder...] [DEFINITIONS NAME=VALUE...] [METADATA file.json] [OUTPUT file.smelt]
#                   [DEPENDS file...])
#
# Compiles kernels at build time into one package. Makes a target NAME that is built by default; its property
# SMELT_PACKAGE is the file's path:
#
#   smelt_add_library(kernels SOURCES saxpy.metal TARGETS macos14 CPU x86-64-v3)
#   target_compile_definitions(app PRIVATE KERNELS="$<TARGET_PROPERTY:kernels,SMELT_PACKAGE>")
#   add_dependencies(app kernels)
#
# The package is made again when a source changes, what a source includes, or the compiler.
#
# The command is the target `smelt` inside smelt's own tree, else $SMELT_COMMAND, else `smelt` next to the installed
# package or on the path.
cmake_policy(PUSH)
if(POLICY CMP0116)
  cmake_policy(SET CMP0116 NEW)  # Ninja wants the output in a dependency file as it names it itself
endif()
function(smelt_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_CPU;FAST_MATH" "STD;METADATA;OUTPUT"
                        "SOURCES;TARGETS;CPU;INCLUDE_DIRECTORIES;DEFINITIONS;DEPENDS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "smelt_add_library(${name}): not understood: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "smelt_add_library(${name}): no SOURCES")
  endif()
  if(arg_NO_CPU AND arg_CPU)
    message(FATAL_ERROR "smelt_add_library(${name}): both CPU and NO_CPU")
  endif()

  set(command_dependency)
  if(TARGET smelt)
    set(command $<TARGET_FILE:smelt>)
    set(command_dependency smelt)
    if(TARGET smelt_aot_library)
      list(APPEND command_dependency smelt_aot_library)
    endif()
  else()
    find_program(SMELT_COMMAND smelt HINTS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../bin")
    if(NOT SMELT_COMMAND)
      message(FATAL_ERROR "smelt_add_library(${name}): the command smelt was not found; install it or set SMELT_COMMAND")
    endif()
    set(command ${SMELT_COMMAND})
    # A link is as old as it is; what changes is the file, and the compiler that it opens.
    file(REAL_PATH ${SMELT_COMMAND} command_dependency)
    cmake_path(GET command_dependency PARENT_PATH compiler)
    cmake_path(APPEND compiler ../lib/smelt/libsmelt-aot.so)
    if(EXISTS ${compiler})
      list(APPEND command_dependency ${compiler})
    endif()
  endif()

  set(sources)
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND sources ${source})
  endforeach()
  if(NOT arg_OUTPUT)
    set(arg_OUTPUT ${name}.smelt)
  endif()
  cmake_path(ABSOLUTE_PATH arg_OUTPUT BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} NORMALIZE)

  set(options)
  foreach(target IN LISTS arg_TARGETS)
    list(APPEND options --target ${target})
  endforeach()
  foreach(level IN LISTS arg_CPU)
    list(APPEND options --cpu ${level})
  endforeach()
  if(arg_NO_CPU)
    list(APPEND options --no-cpu)
  endif()
  if(arg_STD)
    list(APPEND options --std ${arg_STD})
  endif()
  if(arg_FAST_MATH)
    list(APPEND options --fast-math)
  endif()
  foreach(folder IN LISTS arg_INCLUDE_DIRECTORIES)
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND options -I ${folder})
  endforeach()
  foreach(definition IN LISTS arg_DEFINITIONS)
    list(APPEND options -D ${definition})
  endforeach()
  set(dependencies ${sources} ${arg_DEPENDS} ${command_dependency})
  if(arg_METADATA)
    cmake_path(ABSOLUTE_PATH arg_METADATA BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND options --metadata ${arg_METADATA})
    list(APPEND dependencies ${arg_METADATA})
  endif()

  add_custom_command(OUTPUT ${arg_OUTPUT}
                     COMMAND ${command} compile ${sources} -o ${arg_OUTPUT} ${options} --depfile ${arg_OUTPUT}.d
                     DEPENDS ${dependencies} DEPFILE ${arg_OUTPUT}.d COMMENT "Compiling kernels ${name}" VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${arg_OUTPUT})
  set_target_properties(${name} PROPERTIES SMELT_PACKAGE ${arg_OUTPUT})
endfunction()
cmake_policy(POP)
