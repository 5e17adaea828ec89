// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a device says it is. Programs choose kernels by family and limits, so which Apple GPU is stood for is a setting:
// SMELT_METAL_FAMILY, apple7 to apple10. "apple10+metal4" also claims the family Metal4 and is a macOS 26: for programs
// that want of Metal 4 its shading language alone, as ggml does; MTL4 classes are not here.
#pragma once

#include "Metal/MTLDevice.hpp"

#include <string>

namespace smelt::metal {

struct DeviceModel {
  unsigned apple = 9;        ///< the Apple GPU family
  std::string name;          ///< "Apple M3"
  std::string architecture;  ///< "applegpu_g15g"
  bool metal4 = false;
  bool supports(MTL::GPUFamily family) const;
  /// The macOS whose Metal the device stands for.
  int system() const { return metal4 ? 26 : 15; }
  /// What source is compiled for.
  const char* compile_target() const { return metal4 ? "macos26.2" : "macos15"; }
};

/// As the environment says; a word that is unknown is said once, and the default counts.
const DeviceModel& device_model();

}  // namespace smelt::metal
