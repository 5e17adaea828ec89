# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What the loader stands on: fmt (messages), tl-expected (Result<T>, a header), SHA-256 (nettle; on a Mac the system's own)
# and threads. A project may bring the targets fmt::fmt and tl::expected itself. Installed beside smelt-config.cmake, which
# asks for the same.
if(NOT TARGET fmt::fmt)
  find_package(fmt REQUIRED)
endif()
if(NOT TARGET tl::expected)
  find_package(tl-expected REQUIRED)
endif()
find_package(Threads REQUIRED)
if(NOT APPLE AND NOT TARGET smelt::nettle)
  find_path(SMELT_NETTLE_INCLUDE nettle/sha2.h REQUIRED)
  find_library(SMELT_NETTLE nettle REQUIRED)
  add_library(smelt::nettle UNKNOWN IMPORTED GLOBAL)
  set_target_properties(smelt::nettle PROPERTIES IMPORTED_LOCATION ${SMELT_NETTLE}
                        INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${SMELT_NETTLE_INCLUDE})
endif()
