# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Debian packages of a finished build: `cpack --config build/release/CPackConfig.cmake -B OUT`.
#
#   libsmelt1                 libsmelt.so.1
#   libsmelt-compiler1        libsmelt-compiler.so.1; needs LLVM and Clang
#   libsmelt-dev              headers, libsmelt.a, libsmelt-store.a, pkg-config and CMake files
#   smelt                     the command
#   python3-smelt             loader, store and remotes in Python
#   python3-smelt-compiler    the compiler in Python; needs LLVM and Clang
if(APPLE OR NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME smelt)
set(CPACK_PACKAGE_CONTACT "The smelt authors")
set(CPACK_PACKAGE_VENDOR smelt)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Metal and Triton kernels, compiled ahead of time and called by name")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)  # libsmelt-compiler needs libsmelt
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)

# smelt_debian_package(COMPONENT NAME SECTION DESCRIPTION): the file of one component, or of a group of them.
macro(smelt_debian_package component name section description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}")
endmacro()
smelt_debian_package(loader libsmelt1 libs "The loader of kernels that smelt compiled, as a C library.")
smelt_debian_package(development libsmelt-dev libdevel "Headers and static libraries of smelt, for C and C++ programs.")
set(components loader dev)
if(NOT SMELT_LOADER_ONLY)
  # Its number is another in each Debian; cache/remote/src/hiredis_library.cpp opens the one of these headers.
  find_path(SMELT_HIREDIS_HEADERS hiredis/hiredis.h REQUIRED)
  file(STRINGS ${SMELT_HIREDIS_HEADERS}/hiredis/hiredis.h hiredis_package REGEX "define HIREDIS_SONAME")
  string(REGEX REPLACE ".*HIREDIS_SONAME +" libhiredis hiredis_package "${hiredis_package}")
  smelt_debian_package(compiler libsmelt-compiler1 libs "The compiler of smelt as a C library.")
  set(CPACK_DEBIAN_COMPILER_PACKAGE_DEPENDS "libsmelt1 (= ${PROJECT_VERSION}), libhogweed6, libcurl4, ${hiredis_package}")
  smelt_debian_package(command smelt devel "The command: compiles, inspects, verifies, stores and runs kernels.")
  list(APPEND components store compiler compiler-dev command)
  if(TARGET smelt_python)
    smelt_debian_package(debian-python python3-smelt python "Loads, stores and calls kernels in Python.")
    smelt_debian_package(debian-python-compiler python3-smelt-compiler python "Compiles kernels in Python.")
    get_property(python GLOBAL PROPERTY SMELT_DEBIAN_PYTHON)
    set(CPACK_DEBIAN_DEBIAN-PYTHON_PACKAGE_DEPENDS "${python}, libhogweed6, libcurl4, ${hiredis_package}")
    set(CPACK_DEBIAN_DEBIAN-PYTHON-COMPILER_PACKAGE_DEPENDS libseccomp2)
    list(APPEND components debian-python debian-python-remote debian-python-compiler)
  endif()
endif()
# Opened by name, so not among what is linked: libhogweed when a signature is looked at, libcurl when a remote is named,
# hiredis when one of Redis is, libarchive when sources are recorded, libpng when a picture is
# read, libseccomp when a child is sandboxed. libastcenc, when a texture is ASTC, is for programs that have such textures.
set(CPACK_DEBIAN_LOADER_PACKAGE_DEPENDS libhogweed6)
set(CPACK_DEBIAN_LOADER_PACKAGE_SUGGESTS "libastcenc5d | libastcenc3d")
set(development "libsmelt1 (= ${PROJECT_VERSION})")
if(NOT SMELT_LOADER_ONLY)
  string(APPEND development ", libsmelt-compiler1 (= ${PROJECT_VERSION})")
endif()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "${development}, libfmt-dev, libexpected-dev, nettle-dev, libsqlite3-dev, libzstd-dev, libxxhash-dev")
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "libhogweed6, libcurl4, ${hiredis_package}, libarchive13, libpng16-16, libseccomp2")
set(CPACK_COMPONENTS_ALL ${components})
include(CPack)
cpack_add_component_group(development)
cpack_add_component(dev GROUP development)
cpack_add_component(store GROUP development)
cpack_add_component(compiler-dev GROUP development)
if(TARGET smelt_python)
  # In one package: TLS and the rest that remotes need are there on every Debian.
  cpack_add_component_group(debian-python)
  cpack_add_component(debian-python GROUP debian-python)
  cpack_add_component(debian-python-remote GROUP debian-python)
  cpack_add_component(debian-python-compiler DEPENDS debian-python)
endif()
