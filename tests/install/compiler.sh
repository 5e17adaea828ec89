#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# compiler.sh BUILD COMMAND: a C program compiles kernels with the installed libsmelt-compiler, which CMake finds as a
# component. The program in whose children it compiles is found beside the library, wherever the C program is.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1 command=$2
source "$here/installed.sh" "$build" compiler compiler-dev
run() { "$@" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }; }
mkdir "$work/include" "$work/program"
echo '#define FACTOR 3' > "$work/include/factor.h"
echo 'kernel void halve(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 0.5f; }' > "$work/halve.metal"
run "$command" compile "$work/halve.metal" --no-store -o "$work/halve.metallib"
cat > "$work/program/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.24)
project(program LANGUAGES C)
find_package(smelt REQUIRED COMPONENTS compiler)
add_executable(program $here/compile.c)
target_link_libraries(program PRIVATE smelt::compiler)
END
run cmake -S "$work/program" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix"
run cmake --build "$work/build"
"$work/build/program" "$work/store" "$work/halve.metallib" "$work/include"
if SMELT_SANDBOX=always "$work/build/program" "$work/store2" "$work/halve.metallib" "$work/include" > "$work/log" 2>&1; then
  echo "a Metal library was compiled in a child, and no child's program is installed" >&2
  exit 1
fi
grep -q 'smelt-compile-child was not found' "$work/log" || { cat "$work/log" >&2; exit 1; }
run cmake --install "$build" --prefix "$prefix" --component command
SMELT_SANDBOX=always "$work/build/program" "$work/store3" "$work/halve.metallib" "$work/include"
