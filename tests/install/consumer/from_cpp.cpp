// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <smelt/loader/encoder.hpp>

int main() {
  return smelt::loader::Device::open(smelt::loader::DeviceKind::offline) ? 0 : 1;
}
