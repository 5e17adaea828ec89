#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every C and C++ file of the tree has the one shape that .clang-format says. Exit 77: skipped, no clang-format-19.
set -euo pipefail
cd "$1"
if ! command -v clang-format-19 > /dev/null; then
  echo "SKIPPED: clang-format-19 is not installed"
  exit 77
fi
# Tracked files, so that half-written ones in a checkout do not fail the test; in a tarball, all files. Folders named
# `data` hold inputs, not code.
if git rev-parse --is-inside-work-tree > /dev/null 2>&1; then
  files=$(git ls-files -- '*.hpp' '*.h' '*.cpp' '*.c')
else
  files=$(find . -path ./build -prune -o \( -name '*.hpp' -o -name '*.h' -o -name '*.cpp' -o -name '*.c' \) -print)
fi
while read -r file; do
  [ -f "$file" ] && printf '%s\0' "$file"
done < <(grep -v '/data/' <<< "$files") | xargs -0 -r clang-format-19 --dry-run --Werror
