// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt_metal_headers FOLDER: precompiles the standard library's headers, as a step of the build.
#include "smelt/aot/metal_headers.hpp"

#include <cstdio>

int main(int count, char** words) {
  if (count != 2) return 2;
  const auto written = smelt::aot::write_metal_headers(words[1]);
  if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return written ? 0 : 1;
}
