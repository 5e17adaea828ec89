#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# embedded.sh SOURCE PACKAGE: a project that takes us in with FetchContent (which is add_subdirectory) builds the library
# and nothing besides, keeps its own output folders, installs its own files only, and runs a kernel.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$1 package=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run() { "$@" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }; }
# Our own cache of compilations, where there is one, since the tree does not turn it on in somebody else's project.
launcher=$(command -v ccache || true)
run cmake -S "$here/embedder" -B "$work/build" -DSMELT_FOLDER="$source" -DRUN_SOURCE="$here/run.c" \
  -DSMELT_UNITY=ON ${launcher:+-DCMAKE_CXX_COMPILER_LAUNCHER="$launcher"}
run cmake --build "$work/build" --parallel 2
"$work/build/run" "$package"
surplus=$(find "$work/build" \( -name 'test_*' -o -name 'bench_*' -o -name '*.so' -o -name 'smelt' -type f \) | head)
[ -z "$surplus" ] || { echo "built besides the library: $surplus" >&2; exit 1; }
run cmake --install "$work/build" --prefix "$work/prefix"
[ "$(cd "$work/prefix" && find . -type f)" = ./bin/run ] || { find "$work/prefix" -type f >&2; exit 1; }
