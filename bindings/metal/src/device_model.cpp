// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which family has which: Apple's Metal feature set tables (developer.apple.com/metal/Metal-Feature-Set-Tables.pdf).
#include "device_model.hpp"

#include "settings.hpp"

#include <cstdio>

namespace smelt::metal {

bool DeviceModel::supports(MTL::GPUFamily family) const {
  const auto number = static_cast<unsigned>(family);
  if (number > MTL::GPUFamilyApple1 - 1u && number <= 1000 + apple) return true;
  switch (family) {
    case MTL::GPUFamilyMac1:
    case MTL::GPUFamilyMac2:
    case MTL::GPUFamilyMacCatalyst1:
    case MTL::GPUFamilyMacCatalyst2:
    case MTL::GPUFamilyCommon1:
    case MTL::GPUFamilyCommon2:
    case MTL::GPUFamilyCommon3:
    case MTL::GPUFamilyMetal3:
      return true;
    case MTL::GPUFamilyMetal4:
      return metal4;
    default:
      return false;
  }
}

const DeviceModel& device_model() {
  static const DeviceModel model = [] {
    const DeviceModel known[] = {{7, "Apple M1", "applegpu_g13g"},
                                 {8, "Apple M2", "applegpu_g14g"},
                                 {9, "Apple M3", "applegpu_g15g"},
                                 {10, "Apple M5", "applegpu_g17g"}};
    const std::string wanted = setting("SMELT_METAL_FAMILY");
    for (DeviceModel one : known) {
      const std::string name = "apple" + std::to_string(one.apple);
      one.metal4 = one.apple >= 10 && wanted == name + "+metal4";
      if (wanted == name || one.metal4) return one;
    }
    if (!wanted.empty())
      std::fprintf(stderr,
                   "smelt: SMELT_METAL_FAMILY is '%s'; want apple7, apple8, apple9, apple10 or apple10+metal4. apple9 "
                   "counts\n",
                   wanted.c_str());
    return known[2];
  }();
  return model;
}

}  // namespace smelt::metal
