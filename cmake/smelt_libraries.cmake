# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What people link: libsmelt.so (the C API, nothing else exported), libsmelt.a (C and C++), and beside them
# libsmelt-store.a and libsmelt-compiler.so.
set(smelt_loader_objects)
foreach(module IN ITEMS loader signing schema_package metallib base)
  list(APPEND smelt_loader_objects $<TARGET_OBJECTS:smelt_${module}>)
endforeach()

# smelt_c_library(TARGET MAP OBJECTS...): a shared library that exports smelt_* alone.
function(smelt_c_library target)
  add_library(${target} SHARED ${ARGN})
  # The number counts changes after which a program built against the old library would not run with the new one.
  set_target_properties(${target} PROPERTIES VERSION 1.${PROJECT_VERSION} SOVERSION 1 LINKER_LANGUAGE CXX)
  if(APPLE)
    target_link_options(${target} PRIVATE -Wl,-exported_symbols_list,${PROJECT_SOURCE_DIR}/loader/libsmelt.exports)
  else()
    target_link_options(${target} PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/loader/libsmelt.map
                        -Wl,--exclude-libs,ALL)
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/loader/libsmelt.map)
  endif()
endfunction()

set(smelt_loader_needs fmt::fmt Threads::Threads ${CMAKE_DL_LIBS})
if(APPLE)
  list(APPEND smelt_loader_needs "-framework Metal" "-framework Foundation")
else()
  list(APPEND smelt_loader_needs smelt::nettle)
endif()

smelt_c_library(smelt_shared $<TARGET_OBJECTS:smelt_loader>)
smelt_drop_unreached(smelt_shared)
set_target_properties(smelt_shared PROPERTIES OUTPUT_NAME smelt)
# Of the modules below only what the loader uses comes along.
target_link_libraries(smelt_shared PRIVATE smelt::signing smelt::schema_package smelt::metallib smelt::base ${smelt_loader_needs})
target_include_directories(smelt_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/loader/include>)
add_library(smelt::smelt ALIAS smelt_shared)

add_library(smelt_static STATIC ${smelt_loader_objects})
set_target_properties(smelt_static PROPERTIES OUTPUT_NAME smelt LINKER_LANGUAGE CXX)
if(NOT PROJECT_IS_TOP_LEVEL)
  # Whoever embeds us links smelt::loader or smelt::smelt; the other file is made when he asks for it.
  set_target_properties(smelt_shared smelt_static PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

if(NOT SMELT_LOADER_ONLY)
  # The store for C++ programs; what it shares with the loader is in libsmelt.a.
  add_library(smelt_store_static STATIC $<TARGET_OBJECTS:smelt_stored> $<TARGET_OBJECTS:smelt_cache>
              $<TARGET_OBJECTS:smelt_schema_store>)
  set_target_properties(smelt_store_static PROPERTIES OUTPUT_NAME smelt-store LINKER_LANGUAGE CXX)

  # Compiling from C, in a library of its own: who only loads needs no LLVM.
  smelt_c_library(smelt_compiler service/c_api/compiler.cpp)
  set_target_properties(smelt_compiler PROPERTIES OUTPUT_NAME smelt-compiler)
  target_include_directories(smelt_compiler PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/service/c_api/include>)
  target_link_libraries(smelt_compiler PUBLIC smelt_shared PRIVATE smelt::service smelt::aot smelt_warnings)
  smelt_llvm_first(smelt_compiler)
  add_library(smelt::compiler ALIAS smelt_compiler)
endif()
