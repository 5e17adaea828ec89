#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How fast the code is that two builds of the compiler make of the same kernels, plain and checked, in one run:
#   bench/cpu_kernels/compare_code.sh BEFORE/smelt AFTER/smelt [ROUNDS]
# bench_cpu_kernels is the one beside AFTER.
set -eu
before=$1 after=$2 rounds=${3:-25}
here=$(cd "$(dirname "$0")/../.." && pwd)
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
sources=
for name in vadd square saxpy_half rope; do sources="$sources $here/bench/cpu_kernels/ir/$name.ll"; done
for name in sreduce softmax matmul hist; do sources="$sources $here/tests/aot/cpu/kernels/$name.ll"; done
for which in before after; do
  eval command=\$$which
  "$command" compile $sources --target macos15 --no-store -o "$made/$which.smelt"
  "$command" compile $sources --target macos15 --no-store --checked -o "$made/checked-$which.smelt"
done
"$(dirname "$after")/bench_cpu_kernels" --packages "$rounds" "$made/before.smelt" "$made/after.smelt" \
  "$made/checked-before.smelt" "$made/checked-after.smelt"
