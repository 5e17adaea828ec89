// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Metal calls things, once for all modules: versions, platforms, what a function is and what its arguments are.
// The compiler finds these facts, packages keep them, the loader and the tools show them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smelt {

struct Version {
  uint16_t major = 0;
  uint16_t minor = 0;
  uint16_t patch = 0;
  auto operator<=>(const Version&) const = default;
};
/// "3.1", or "26.0.1" when there is a patch.
std::string to_string(const Version& version);

// The numbers are written into packages: add at the end, never renumber.

enum class Platform : uint8_t { none = 0, macos = 1, ios = 2, tvos = 3, watchos = 4, visionos = 5 };
/// As Apple writes it: "macOS".
std::string_view to_string(Platform platform);
/// As the names of targets begin: "macos".
std::string_view target_word(Platform platform);
std::optional<Platform> platform_of_word(std::string_view word);

enum class FunctionKind : uint8_t {
  kernel = 0,
  vertex = 1,
  fragment = 2,
  unqualified = 3,
  visible = 4,
  external = 5,
  intersection = 6,
  mesh = 7,
  object = 8
};
/// The enumerator's spelling, here and below; "unknown" for a number without one.
std::string_view to_string(FunctionKind kind);
std::optional<FunctionKind> function_kind(std::string_view name);

enum class ArgumentKind : uint8_t {
  buffer = 0,
  threadgroup = 1,  ///< threadgroup memory whose length is given at dispatch
  texture = 2,
  sampler = 3,
  indirect_buffer = 4,  ///< an argument buffer
  function_table = 5,   ///< visible or intersection
  acceleration_structure = 6,
  other = 7,        ///< a kind that this version does not know, e.g. of a graphics stage
  builtin = 8,      ///< a hardware value: nothing is bound, and no package lists it
  stage_input = 9,  ///< of a vertex or fragment function on the CPU: an array with one element for each of them
  stage_output = 10
};
std::string_view to_string(ArgumentKind kind);

/// What a function does with an argument.
enum class Access : uint8_t { none = 0, read = 1, write = 2, read_write = 3, sample = 4 };
std::string_view to_string(Access access);

}  // namespace smelt
