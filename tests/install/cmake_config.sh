#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake_config.sh SOURCE BUILD PACKAGE [COMMAND]: a stranger's project against the installed files, found with
# find_package(smelt). With the command's path it compiles kernels too, and a change of their source is noticed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$1 build=$2 package=$3 command=${4:-}
source "$here/installed.sh" "$build"
cp "$source/examples/saxpy.ll" "$work/saxpy.ll"
export SMELT_STORE=$work/store
run() { "$@" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }; }
run cmake -S "$here/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" -DSMELT_COMMAND="$command" \
  -DKERNEL_SOURCE="$work/saxpy.ll" -DRUN_SOURCE="$here/run.c"
run cmake --build "$work/consumer"
"$work/consumer/from_cpp"
"$work/consumer/from_c" "$package"
# A component that was not installed is missed by name.
if cmake -S "$here/consumer" -B "$work/missing" -DCMAKE_PREFIX_PATH="$prefix" -DCOMPONENTS=compiler \
  -DRUN_SOURCE="$here/run.c" > "$work/log" 2>&1; then
  echo "find_package(smelt COMPONENTS compiler) found what was not installed" >&2
  exit 1
fi
grep -q 'compiler' "$work/log"
# A build folder whose programs are on PATH is no installation, and is not taken for one.
rm -f "$build"/smelt-config*.cmake  # where they lay before; configured anew it has none
if PATH="$build/bin:$PATH" cmake -S "$here/consumer" -B "$work/unbuilt" -DRUN_SOURCE="$here/run.c" > "$work/log" 2>&1; then
  echo "find_package(smelt) took a build folder for an installation" >&2
  exit 1
fi
grep -q 'package configuration file provided by "smelt"' "$work/log"
[ -n "$command" ] || exit 0
"$work/consumer/with_kernels" 1
sed -i 's/%sum = fadd float %ax, %vy/%sum = fsub float %ax, %vy/' "$work/saxpy.ll"
run cmake --build "$work/consumer"
"$work/consumer/with_kernels" -1
