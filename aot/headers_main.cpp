// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt_metal_headers FOLDER: precompiles the standard library's headers, as a step of the build. --pack FOLDER: packs
// those that are there, as a step of a wheel.
#include "smelt/aot/metal_headers.hpp"

#include <cstdio>
#include <string_view>

int main(int count, char** words) {
  const bool packs = count == 3 && std::string_view(words[1]) == "--pack";
  if (count != 2 && !packs) return 2;
  const auto written = packs ? smelt::aot::pack_metal_headers(words[2]) : smelt::aot::write_metal_headers(words[1]);
  if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return written ? 0 : 1;
}
