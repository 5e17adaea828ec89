// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tags of intersectors, intersection functions and their tables.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace smelt::aot::msl {

/// AIR writes them in this order. Bit i of metal::__air::__tag is tag i.
inline constexpr llvm::StringLiteral kIntersectionTags[] = {"instancing",     "triangle_data",    "world_space_data",
                                                            "curve_data",     "primitive_motion", "instance_motion",
                                                            "extended_limits"};

}  // namespace smelt::aot::msl
