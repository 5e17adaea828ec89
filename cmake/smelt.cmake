# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiler settings and the one function that makes a module: smelt_library().
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
# What a project that embeds us decides for itself.
if(PROJECT_IS_TOP_LEVEL)
  # With -O3 a build takes longer, and bench/two_builds.py and bench_store show no gain.
  string(REPLACE "-O3" "-O2" CMAKE_C_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}")
  string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

  find_program(SMELT_CCACHE ccache)
  if(SMELT_CCACHE)
    # Precompiled headers can be cached only with these two liberties.
    set(CMAKE_C_COMPILER_LAUNCHER ${SMELT_CCACHE})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${SMELT_CCACHE})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
    else()
      add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
    endif()
  endif()
endif()

# Warnings are a target, so that they are strict for our code alone.
add_library(smelt_warnings INTERFACE)
target_compile_options(smelt_warnings INTERFACE -Wall -Wextra -Wshadow
  "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Wnon-virtual-dtor -Woverloaded-virtual>"
  -Wno-missing-field-initializers $<$<BOOL:${SMELT_WERROR}>:-Werror>
  # At -O3 GCC 12 sees overlaps and unset members in strings and results that are not there (GCC bug 105651).
  "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-Wno-restrict;-Wno-maybe-uninitialized>")
if(SMELT_SANITIZE)
  add_compile_definitions(SMELT_SANITIZED)  # a sanitizer's shadow of the memory goes with no limit of address space
endif()
foreach(sanitizer IN LISTS SMELT_SANITIZE)
  add_compile_options(-fsanitize=${sanitizer} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${sanitizer})
endforeach()
if(SMELT_SANITIZE)
  add_library(smelt_sanitizer_options OBJECT ${CMAKE_CURRENT_LIST_DIR}/sanitizer_options.c)
  link_libraries($<TARGET_OBJECTS:smelt_sanitizer_options>)
endif()
if("undefined" IN_LIST SMELT_SANITIZE)
  # vptr asks the kernel whether memory can be read, which the compiling child's filter forbids.
  add_compile_options(-fno-sanitize-recover=undefined -fno-sanitize=vptr)
endif()
if(SMELT_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# smelt_calls_made_code(): said by a folder whose files call code that smelt made. Before a call by pointer Clang's check
# "function" reads the type in front of what is called; in front of such code lies no type, and often no memory.
macro(smelt_calls_made_code)
  if("undefined" IN_LIST SMELT_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options(-fno-sanitize=function)
  endif()
endmacro()

# smelt_builds_quickly(): called by a folder whose own code is little of what its users wait for: they wait for LLVM, for
# other processes, for the network. There a short build is worth more than fast code.
macro(smelt_builds_quickly)
  add_compile_options($<$<CONFIG:Release>:-O1>)
endmacro()

include(smelt_dependencies)
include(smelt_runtime)

if(NOT SMELT_LOADER_ONLY)
  find_package(PkgConfig REQUIRED)
  find_package(SQLite3 REQUIRED)
  pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
  pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
  pkg_check_modules(curl REQUIRED IMPORTED_TARGET libcurl>=7.88)
  pkg_check_modules(hiredis REQUIRED IMPORTED_TARGET hiredis)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    pkg_check_modules(seccomp REQUIRED IMPORTED_TARGET libseccomp)
  endif()
  find_package(nlohmann_json REQUIRED)
  find_package(ZLIB REQUIRED)
  find_package(CLI11 REQUIRED)
  find_package(spdlog REQUIRED)
  find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/llvm)
  add_library(smelt_llvm INTERFACE)
  target_include_directories(smelt_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
  separate_arguments(smelt_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  target_compile_options(smelt_llvm INTERFACE ${smelt_llvm_definitions})
  target_link_libraries(smelt_llvm INTERFACE LLVM)
  # Clang's one shared library, of the very LLVM that was found: the front end uses its C++ interface.
  find_library(SMELT_CLANG_CPP NAMES clang-cpp HINTS ${LLVM_LIBRARY_DIR} ${LLVM_LIBRARY_DIRS} NO_DEFAULT_PATH REQUIRED)
  add_library(smelt_clang INTERFACE)
  target_link_libraries(smelt_clang INTERFACE ${SMELT_CLANG_CPP} smelt_llvm)
endif()

# smelt_drop_unreached(TARGET): of the loader's modules it keeps what it reaches, so loading touches fewer pages of code.
function(smelt_drop_unreached target)
  target_link_options(${target} PRIVATE $<IF:$<PLATFORM_ID:Darwin>,LINKER:-dead_strip,LINKER:--gc-sections>)
endfunction()

# smelt_third_party(NAME TARGET ARCHIVE): the target smelt_NAME, which is TARGET's shared library; in programs with the
# property SMELT_STATIC it is the archive of that name, where the system has one. A process that is to be over in two
# milliseconds spends half of one on finding and relocating four libraries.
function(smelt_third_party name shared archive)
  add_library(smelt_${name} INTERFACE)
  find_library(SMELT_ARCHIVE_${name} NAMES ${CMAKE_STATIC_LIBRARY_PREFIX}${archive}${CMAKE_STATIC_LIBRARY_SUFFIX})
  mark_as_advanced(SMELT_ARCHIVE_${name})
  if(SMELT_ARCHIVE_${name} AND NOT APPLE)
    target_link_libraries(smelt_${name} INTERFACE
      $<IF:$<BOOL:$<TARGET_PROPERTY:SMELT_STATIC>>,${SMELT_ARCHIVE_${name}},${shared}> $<$<BOOL:$<TARGET_PROPERTY:SMELT_STATIC>>:m>)
  else()
    target_link_libraries(smelt_${name} INTERFACE ${shared})
  endif()
endfunction()
if(NOT SMELT_LOADER_ONLY)
  smelt_third_party(sqlite SQLite::SQLite3 sqlite3)
  smelt_third_party(zstd PkgConfig::zstd zstd)
  smelt_third_party(xxhash PkgConfig::xxhash xxhash)
  smelt_third_party(zlib ZLIB::ZLIB z)
endif()

# smelt_finds_libraries(TARGET [folder...]): of a target that is installed, where the dynamic linker looks first, in a build
# as after an installation. If the two differed, CMake would pad the build's with colons, so that the other fits in its
# place; an empty element is the current folder, and whoever made that would choose our libraries. LLVM below /usr is
# found without.
function(smelt_finds_libraries target)
  set(folders ${ARGN})
  foreach(folder IN LISTS LLVM_LIBRARY_DIRS)
    if(NOT folder MATCHES "^/usr/")
      list(APPEND folders ${folder})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${folders}" BUILD_WITH_INSTALL_RPATH ON)
endfunction()

# smelt_llvm_first(TARGET): of the libraries that a program needs, LLVM's and Clang's stand first. The dynamic linker goes
# through them in that order for each of the 24,000 symbols that it looks up when such a program starts, and nearly all are in
# these two: behind seven other libraries, that took 16.8 million instructions instead of 10.7.
function(smelt_llvm_first target)
  if(NOT APPLE)
    target_link_options(${target} BEFORE PRIVATE LINKER:--push-state,--no-as-needed $<TARGET_FILE:LLVM> ${SMELT_CLANG_CPP} LINKER:--pop-state)
  endif()
endfunction()

# smelt_unity(TARGET): with SMELT_UNITY its files are compiled folder by folder, up to ten of one together. What is one
# file's own needs a name that is unique in its folder (the test `layering_local_names`). Generated files stay apart. Not
# for what applications link: a linker takes whole object files, and a loader would bring along what it never calls.
function(smelt_unity target)
  if(NOT SMELT_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    if(path MATCHES "^\\.\\.")
      continue()
    endif()
    cmake_path(GET path PARENT_PATH folder)
    string(REPLACE "/" "_" folder "${folder}")
    math(EXPR count_${folder} "0${count_${folder}} + 1")
    math(EXPR group "(${count_${folder}} - 1) / 10")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${folder}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# A module: static library smelt_NAME, alias smelt::NAME. Sources are src/**/*.cpp, public headers include/**.
# Each module has its own include root, so an include across a forbidden edge does not compile.
# Found, not listed: a module is its folder, and a list would say that again.
function(smelt_library name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/src/*.hpp
       ${CMAKE_CURRENT_SOURCE_DIR}/include/*.hpp ${CMAKE_CURRENT_SOURCE_DIR}/include/*.h)
  set(compiled ${sources})
  list(FILTER compiled INCLUDE REGEX "\\.cpp$")
  if(compiled)
    add_library(smelt_${name} STATIC ${sources})
    target_include_directories(smelt_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                               $<INSTALL_INTERFACE:include> PRIVATE src)
    target_link_libraries(smelt_${name} ${ARGN} PRIVATE $<BUILD_INTERFACE:smelt_warnings>)
    if(SMELT_UNITY AND NOT SMELT_SANITIZE)
      if(name STREQUAL "base")
        target_precompile_headers(smelt_base PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${CMAKE_CURRENT_SOURCE_DIR}/src/pch.hpp>")
      else()
        target_precompile_headers(smelt_${name} REUSE_FROM smelt_base)
      endif()
    endif()
    if(name MATCHES "^(base|metallib|schema_package|signing|loader)$" AND NOT SMELT_SANITIZE)
      # What applications link: with smelt_drop_unreached() a program takes the functions that it reaches, not whole files.
      target_compile_options(smelt_${name} PRIVATE -ffunction-sections -fdata-sections)
    endif()
  else()
    string(REPLACE "PUBLIC" "INTERFACE" interface_links "${ARGN}")
    string(REPLACE "PRIVATE" "INTERFACE" interface_links "${interface_links}")
    add_library(smelt_${name} INTERFACE)
    target_include_directories(smelt_${name} INTERFACE include)
    target_link_libraries(smelt_${name} ${interface_links})
  endif()
  add_library(smelt::${name} ALIAS smelt_${name})
endfunction()
