// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Links smelt::loader and nothing else of ours; tests/layering/linked.sh looks at what that brings along.
#include "smelt/loader/encoder.hpp"
#include "smelt/smelt.h"

#include <cstdio>

int main() {
  const auto device = smelt::loader::Device::open(smelt::loader::DeviceKind::cpu);
  if (!device) {
    std::fprintf(stderr, "%s\n", device.error().message.c_str());
    return 1;
  }
  const auto library = smelt::loader::Library::load(*device, smelt::as_bytes("not a library"));
  std::printf("smelt %s on %.*s: %s\n", smelt_version(), int((*device)->name().size()), (*device)->name().data(),
              library ? "?" : library.error().message.c_str());
  return library ? 1 : 0;
}
