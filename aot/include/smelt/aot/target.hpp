// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Targets: what a slice is built for, and the one row of versions that goes with it.
#pragma once

#include "smelt/base/metal.hpp"
#include "smelt/base/result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace smelt::aot {

using smelt::Platform;
using smelt::to_string;
using smelt::Version;

/// One target. `triple`, `air`, `language` and `container` are the versions Apple's tools stamp for that deployment
/// target (docs/formats/air.md 1.2, docs/formats/metallib.md 12).
struct Target {
  std::string name;  ///< "macos14", "ios17", "tvos17"
  Platform platform = Platform::macos;
  Version os;
  Version air;                   ///< e.g. 2.6.0
  Version language;              ///< default Metal language, e.g. 3.1.0
  uint16_t container_patch = 7;  ///< container 1.2.N
  std::string triple;            ///< e.g. "air64-apple-macosx14.0.0"
};

/// macos12 ... macos15, macos26, macos27, ios15 ... ios18, ios26, ios27, and tvos as ios; a minor version may follow
/// ("macos14.2") and changes the triple and the version in the container's header alone. An unknown name lists the
/// known ones.
Result<Target> parse_target(std::string_view name);
std::span<const Target> known_targets();
/// The default target: macos14 (first with bfloat, loads on 14, 15, 26 and 27).
const Target& default_target();
/// Of macOS, the newest there is: for code that runs here alone, where no Mac's system counts.
const Target& newest_target();

/// The data layout of every AIR module from 2.0 on, whatever the target (docs/formats/air.md 1.1).
std::string_view air_data_layout();

}  // namespace smelt::aot
