# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Objective-C is compiled by Clang whatever compiles C++: GCC has no blocks. SMELT_OBJC says whether there is one, and a
# processor that the runtime knows.
set(SMELT_OBJC OFF)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64|aarch64|arm64)$")
  find_program(SMELT_CLANG clang-19)
  find_program(SMELT_CLANGXX clang++-19)
  if(SMELT_CLANG AND SMELT_CLANGXX)
    set(CMAKE_OBJC_COMPILER ${SMELT_CLANG} CACHE FILEPATH "Clang")
    set(CMAKE_OBJCXX_COMPILER ${SMELT_CLANGXX} CACHE FILEPATH "Clang")
    enable_language(OBJC OBJCXX ASM)
    foreach(language OBJC OBJCXX)  # CMake 3.25 knows of rpaths and sonames for C and C++ alone
      set(CMAKE_SHARED_LIBRARY_SONAME_${language}_FLAG "-Wl,-soname,")
      foreach(kind SHARED_LIBRARY EXECUTABLE)
        set(CMAKE_${kind}_RUNTIME_${language}_FLAG "-Wl,-rpath,")
        set(CMAKE_${kind}_RUNTIME_${language}_FLAG_SEP ":")
      endforeach()
    endforeach()
    set(CMAKE_OBJC_COMPILER_LAUNCHER ${SMELT_CCACHE})
    set(CMAKE_OBJCXX_COMPILER_LAUNCHER ${SMELT_CCACHE})
    set(CMAKE_OBJCXX_STANDARD 20)
    set(CMAKE_OBJCXX_STANDARD_REQUIRED ON)
    set(SMELT_OBJC ON)
  endif()
endif()

# What a program in Objective-C is compiled with.
add_library(smelt_objc_language INTERFACE)
target_compile_options(smelt_objc_language INTERFACE
  "$<$<COMPILE_LANGUAGE:OBJC,OBJCXX>:SHELL:-fobjc-runtime=gnustep-2.0 -fblocks -fexceptions -Wno-unused-parameter -Wno-cast-function-type-mismatch>"
  $<$<COMPILE_LANGUAGE:OBJC>:-fobjc-exceptions>)
