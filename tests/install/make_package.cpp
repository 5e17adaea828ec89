// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// make_package FILE: the hand-written kernels of tests/loader as a package for this processor, without a compiler.
#include "smelt/base/files.hpp"

#include "kernel_packages.hpp"

#include <cstdio>

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const auto written = smelt::write_file(arguments[1], smelt::test::kernel_package());
  if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return written ? 0 : 1;
}
