# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What `cmake --install` puts where, by component:
#
#   loader    libsmelt.so.1, what a program needs to run
#   dev       headers, libsmelt.so, libsmelt.a, smelt.pc, smelt-config.cmake: what it needs to be built
#   store     the store in C++: headers and libsmelt-store.a
#   compiler  libsmelt-compiler.so and its header
#   metal     libsmelt-metal.so; metal-dev its headers, in a folder of their own: they have Apple's names
#             the same for Objective-C: metal-objc, metal-objc-dev
#   command   bin/smelt, and in lib/smelt the compiler that it opens
#   python    the Python package (bindings/python/CMakeLists.txt; wheels are made of it)
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT loader)

# Libraries of ours lie beside each other.
foreach(target IN ITEMS smelt_shared smelt_compiler smelt_objc smelt_foundation smelt_metal_objc)
  if(TARGET ${target})
    smelt_finds_libraries(${target} "$ORIGIN")
  endif()
endforeach()
foreach(target IN ITEMS smelt smelt-selftest smelt-compile-child smelt_aot_library)
  if(TARGET ${target})
    smelt_finds_libraries(${target})
  endif()
endforeach()

set(smelt_config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/smelt)
install(TARGETS smelt_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT loader NAMELINK_COMPONENT dev)
install(TARGETS smelt_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY base/include/ signing/include/ loader/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)

configure_file(cmake/smelt.pc.in ${PROJECT_BINARY_DIR}/smelt.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/smelt.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
if(APPLE)
  set(smelt_config_system "-framework Metal;-framework Foundation")
else()
  set(smelt_config_system smelt::nettle)
endif()
# In a folder where find_package does not look: a build folder, whose bin/ is on PATH, is no installation.
set(smelt_config_made ${PROJECT_BINARY_DIR}/to-install)
configure_package_config_file(cmake/smelt-config.cmake.in ${smelt_config_made}/smelt-config.cmake
  INSTALL_DESTINATION ${smelt_config_folder} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${smelt_config_made}/smelt-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${smelt_config_made}/smelt-config.cmake ${smelt_config_made}/smelt-config-version.cmake
        cmake/smelt_add_library.cmake cmake/smelt_dependencies.cmake DESTINATION ${smelt_config_folder} COMPONENT dev)

if(TARGET smelt_compiler)
  install(TARGETS smelt_compiler LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compiler
          NAMELINK_COMPONENT compiler-dev)
  install(DIRECTORY service/c_api/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT compiler-dev)
endif()
if(TARGET smelt_store_static)
  install(TARGETS smelt_store_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT store)
  install(DIRECTORY cache/include/ service/stored/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT store)
endif()
if(TARGET smelt_metal)
  install(TARGETS smelt_metal LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT metal NAMELINK_COMPONENT metal-dev)
  install(DIRECTORY bindings/metal/include/ ${PROJECT_BINARY_DIR}/bindings/metal/include/
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/smelt-metal COMPONENT metal-dev FILES_MATCHING PATTERN *.hpp)
  configure_file(cmake/smelt-metal.pc.in ${PROJECT_BINARY_DIR}/smelt-metal.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/smelt-metal.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT metal-dev)
endif()
if(TARGET smelt_metal_objc)
  install(TARGETS smelt_objc smelt_foundation smelt_metal_objc LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          COMPONENT metal-objc NAMELINK_COMPONENT metal-objc-dev)
  install(DIRECTORY bindings/metal/objc/include/ bindings/metal/foundation/include/ bindings/metal/framework/include/
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/smelt-metal COMPONENT metal-objc-dev)
  install(FILES ${PROJECT_BINARY_DIR}/bindings/metal/include/Metal/MTLPixelFormat.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/smelt-metal/Metal COMPONENT metal-objc-dev)
  configure_file(cmake/smelt-metal-objc.pc.in ${PROJECT_BINARY_DIR}/smelt-metal-objc.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/smelt-metal-objc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT metal-objc-dev)
endif()
