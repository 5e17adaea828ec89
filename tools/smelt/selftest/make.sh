#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes ../src/selftest_kernels.cpp from kernels.c. Run it after a change there, and look at the difference.
set -euo pipefail
cd "$(dirname "$0")"
{
  echo '// The kernels of `smelt selftest` as LLVM IR. Written by tools/smelt/selftest/make.sh from kernels.c; do not edit.'
  echo '#include "selftest_kernels.hpp"'
  echo
  echo 'namespace smelt::cli {'
  echo
  echo '// clang-format off'
  echo 'const char* const kSelftestKernels = R"IR('
  clang-19 -target nvptx64 -O1 -fno-unroll-loops -fno-math-errno -ffp-contract=off -S -emit-llvm -o - kernels.c |
    sed -e '/^; ModuleID/d' -e '/^source_filename/d' -e 's/^\(![0-9]* = !{!"\)[^"]*clang version[^"]*"}/\1clang"}/'
  echo ')IR";'
  echo '// clang-format on'
  echo
  echo '}  // namespace smelt::cli'
} > ../src/selftest_kernels.cpp.new
mv ../src/selftest_kernels.cpp.new ../src/selftest_kernels.cpp
