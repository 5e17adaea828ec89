// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What came with which patch of the container, 1.2.PATCH (docs/formats/metallib.md 12).
#pragma once

#include <cstdint>

namespace smelt::metallib {

constexpr uint16_t kFirstPatchWithExtension = 3;
constexpr uint16_t kFirstPatchWithPlatform = 6;  ///< and the version of the system

}  // namespace smelt::metallib
