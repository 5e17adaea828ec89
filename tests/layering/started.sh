#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What the dynamic linker does before a program can say a word: libraries that few calls need are opened by them and not
# linked, and LLVM's and Clang's are the first to be looked through. started.sh FILE yes|no: whether it may need these two.
set -euo pipefail
program=$1 with_llvm=$2
if ! command -v readelf > /dev/null; then
  echo "SKIPPED: needs readelf"
  exit 77
fi
needed=$(readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
echo "$needed"
if grep -E 'curl|hiredis|archive|seccomp|hogweed|gmp' <<< "$needed"; then
  echo "these are to be opened by name where they are needed (smelt/base/shared_library.hpp)" >&2
  exit 1
fi
if [[ $with_llvm == no ]]; then
  if grep -E 'LLVM|clang' <<< "$needed"; then
    echo "the compiler is to be opened when something is compiled (aot/opened)" >&2
    exit 1
  fi
  exit 0
fi
if [[ $(head -2 <<< "$needed") != libLLVM*$'\n'libclang-cpp* ]]; then
  echo "libLLVM and libclang-cpp must come first (smelt_llvm_first)" >&2
  exit 1
fi
