#!/usr/bin/env bash
# Installs the loader into an empty prefix and builds a stranger's project against it with find_package(smelt). With the
# command's path as third argument the project compiles kernels too, and a change of their source is noticed.
set -euo pipefail
source=$1 build=$2 command=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" --component loader > "$work/install.log" || { cat "$work/install.log"; exit 1; }
cp "$source/examples/saxpy.ll" "$work/saxpy.ll"
export SMELT_STORE=$work/store
cmake -S "$source/tests/layering/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DSMELT_COMMAND="$command" -DKERNEL_SOURCE="$work/saxpy.ll" \
  > "$work/configure.log" 2>&1 || { cat "$work/configure.log"; exit 1; }
cmake --build "$work/consumer" > "$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
"$work/consumer/from_cpp"
"$work/consumer/from_c"
[ -n "$command" ] || exit 0
"$work/consumer/with_kernels" 1
sed -i 's/%sum = fadd float %ax, %vy/%sum = fsub float %ax, %vy/' "$work/saxpy.ll"
cmake --build "$work/consumer" > "$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
"$work/consumer/with_kernels" -1
