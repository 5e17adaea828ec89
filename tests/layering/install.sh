#!/usr/bin/env bash
# Installs the loader into an empty prefix and builds a stranger's project against it with find_package(smelt).
set -euo pipefail
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" --component loader > "$work/install.log" || { cat "$work/install.log"; exit 1; }
cmake -S "$source/tests/layering/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$work/prefix" \
  > "$work/configure.log" 2>&1 || { cat "$work/configure.log"; exit 1; }
cmake --build "$work/consumer" > "$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
"$work/consumer/from_cpp"
"$work/consumer/from_c"
