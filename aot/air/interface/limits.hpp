// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What no Apple GPU has more of (docs/formats/air.md 6), and the AIR versions with which something began
// (docs/formats/air.md 4).
#pragma once

#include "smelt/aot/target.hpp"
#include "smelt/base/entry_interface.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace smelt::aot::air {

inline constexpr unsigned kMostBuffers =
    row_of(BindingClass::buffer).slots;  ///< device and constant together; threadgroup pointers have as many
inline constexpr unsigned kMostTextures = row_of(BindingClass::texture).slots;
inline constexpr unsigned kMostReadWriteTextures = 8;
inline constexpr unsigned kMostSamplers = row_of(BindingClass::sampler).slots;
inline constexpr unsigned kMostThreads = 1024;  ///< in a threadgroup
inline constexpr uint64_t kMostThreadgroupBytes = 32 * 1024;

/// The message about a kernel that needs more threadgroup memory than a pipeline can have.
inline std::string too_much_threadgroup_memory(std::string_view kernel, uint64_t bytes) {
  return fmt::format("kernel '{}' needs {} bytes of threadgroup memory; Apple GPUs have {} per threadgroup", kernel,
                     bytes, kMostThreadgroupBytes);
}

inline constexpr Version kFirstLimitFlags{2, 3};    ///< module flags that repeat the limits
inline constexpr Version kFirstAddressSpace{2, 5};  ///< "air.address_space" of an argument
inline constexpr Version kFirstBfloat{2, 6};
inline constexpr Version kFirstMemoryFlags{2, 9};  ///< memory flags of atomics, memory orders of barriers
inline constexpr Version kFirstModern{2, 6};       ///< freeze, poison, fneg, fast-math flags on phi and select

}  // namespace smelt::aot::air
