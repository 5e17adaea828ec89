#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What a program that links smelt::loader drags in, and how large it is.
set -euo pipefail
program=$1
"$program"
if command -v ldd > /dev/null; then
  libraries=$(ldd "$program")
  echo "$libraries"
  if grep -qiE 'llvm|clang|sqlite|zstd|xxhash|spdlog' <<< "$libraries"; then
    echo "a loader program must link none of LLVM, Clang, SQLite, zstd, xxhash, spdlog" >&2
    exit 1
  fi
fi
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip -o "$stripped" "$program"
echo "stripped size: $(stat -c %s "$stripped") bytes"
