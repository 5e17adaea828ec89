# What `cmake --install` puts where. Component `loader`: what applications link, with find_package(smelt). The command,
# which smelt_add_library() runs, is installed by cli/.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(smelt_config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/smelt)
set(smelt_rooms base metallib schema_package loader)
target_compile_features(smelt_base INTERFACE cxx_std_20)
foreach(room IN LISTS smelt_rooms)
  set_target_properties(smelt_${room} PROPERTIES EXPORT_NAME ${room})
  install(TARGETS smelt_${room} EXPORT smelt-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT loader)
endforeach()
install(DIRECTORY base/include/ metallib/include/ schema/package/include/ loader/include/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT loader)
install(EXPORT smelt-targets NAMESPACE smelt:: DESTINATION ${smelt_config_folder} COMPONENT loader)

configure_package_config_file(cmake/smelt-config.cmake.in ${CMAKE_BINARY_DIR}/smelt-config.cmake
                              INSTALL_DESTINATION ${smelt_config_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/smelt-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/smelt-config.cmake ${CMAKE_BINARY_DIR}/smelt-config-version.cmake
        cmake/smelt_add_library.cmake DESTINATION ${smelt_config_folder} COMPONENT loader)
