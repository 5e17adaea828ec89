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

/// What packages call an argument: binding_classes.def.
enum class ArgumentKind : uint8_t {
#define SMELT_ARGUMENT_KIND(name, number, class) name = number,
#define SMELT_UNBOUND_KIND(name, number) name = number,
#include "smelt/base/binding_classes.def"
};
std::string_view to_string(ArgumentKind kind);

/// What a function does with an argument.
enum class Access : uint8_t { none = 0, read = 1, write = 2, read_write = 3, sample = 4 };
std::string_view to_string(Access access);

}  // namespace smelt
