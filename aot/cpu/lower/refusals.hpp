// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Why an operation is not on the CPU: the words that rows of ops/ops.def name, as users read them.
#pragma once

#include <string_view>

namespace smelt::aot::cpu::refusal {

inline constexpr std::string_view commands = "indirect command buffers are not supported on the CPU";
inline constexpr std::string_view derivatives = "only fragment functions have derivatives";
inline constexpr std::string_view discard = "only fragment functions discard";
inline constexpr std::string_view handles = "textures and tables are not supported on the CPU";
inline constexpr std::string_view helpers = "only fragment functions have helper threads";
inline constexpr std::string_view imageblocks = "imageblocks are not supported on the CPU";
inline constexpr std::string_view interpolation = "interpolants are not supported on the CPU";
inline constexpr std::string_view meshes = "mesh functions are not supported on the CPU";
inline constexpr std::string_view rays = "ray tracing is not supported on the CPU";
inline constexpr std::string_view samples = "samples of a pixel are not supported on the CPU";
inline constexpr std::string_view spaces = "the CPU supports atomics only in device and threadgroup memory";
inline constexpr std::string_view tables = "function tables are not supported on the CPU";
inline constexpr std::string_view textures = "this operation on textures is not supported on the CPU";
inline constexpr std::string_view unknown = "unknown operation";

}  // namespace smelt::aot::cpu::refusal
