#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# compiler.sh BUILD COMMAND: a C program compiles kernels with the installed libsmelt-compiler, which CMake finds as a
# component.
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
