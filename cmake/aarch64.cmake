# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Toolchain file: Clang for 64-bit ARM Linux, programs run by QEMU's user mode. SMELT_SYSROOT is a Debian of that
# architecture (scripts/nightly makes one).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_SYSROOT ${SMELT_SYSROOT})
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SMELT_SYSROOT)
foreach(language C CXX)
  set(CMAKE_${language}_COMPILER_TARGET aarch64-linux-gnu)
endforeach()
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
find_program(CMAKE_OBJCOPY llvm-objcopy-19 NO_CMAKE_FIND_ROOT_PATH)
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT -fuse-ld=lld)
endforeach()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -cpu max -L ${SMELT_SYSROOT})
# pkg-config finds the sysroot's libraries, not this machine's.
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${SMELT_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${SMELT_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${SMELT_SYSROOT}/usr/share/pkgconfig)
