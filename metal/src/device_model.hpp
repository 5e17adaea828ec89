// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a device says it is. Programs choose kernels by family and limits, so which Apple GPU is stood for is a setting:
// SMELT_METAL_FAMILY, apple7 to apple10.
#pragma once

#include "Metal/types.hpp"

#include <string>

namespace smelt::metal {

struct DeviceModel {
  unsigned apple = 9;        ///< the Apple GPU family
  std::string name;          ///< "Apple M3"
  std::string architecture;  ///< "applegpu_g15g"
  bool supports(MTL::GPUFamily family) const;
};

/// As the environment says; a word that is unknown is said once, and the default counts.
const DeviceModel& device_model();

/// The macOS whose Metal the devices stand for: what source is compiled for.
constexpr int kSystemVersion = 15;
constexpr const char* kCompileTarget = "macos15";

}  // namespace smelt::metal
