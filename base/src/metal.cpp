// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/metal.hpp"

#include "smelt/base/argument_member.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace smelt {
namespace {

// In the order of the enumerators.
constexpr std::string_view kPlatforms[] = {"none", "macOS", "iOS", "tvOS", "watchOS", "visionOS"};
constexpr std::string_view kTargetWords[] = {"none", "macos", "ios", "tvos", "watchos", "visionos"};
constexpr std::string_view kFunctionKinds[] = {"kernel",   "vertex",       "fragment", "unqualified", "visible",
                                               "external", "intersection", "mesh",     "object"};
constexpr std::string_view kArgumentKinds[] = {
#define SMELT_ARGUMENT_KIND(name, number, class) #name,
#define SMELT_UNBOUND_KIND(name, number) #name,
#include "smelt/base/binding_classes.def"
};
constexpr std::string_view kAccesses[] = {"none", "read", "write", "read_write", "sample"};
constexpr std::string_view kMemberKinds[] = {"pointer", "constant", "other"};

template <class Enum>
std::string_view name_in(std::span<const std::string_view> names, Enum value) {
  const auto index = static_cast<size_t>(value);
  return index < names.size() ? names[index] : "unknown";
}

template <class Enum>
std::optional<Enum> value_in(std::span<const std::string_view> names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string to_string(const Version& version) {
  if (version.patch != 0) return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
  return fmt::format("{}.{}", version.major, version.minor);
}
std::string_view to_string(Platform platform) {
  return name_in(kPlatforms, platform);
}
std::string_view target_word(Platform platform) {
  return name_in(kTargetWords, platform);
}
std::optional<Platform> platform_of_word(std::string_view word) {
  return value_in<Platform>(kTargetWords, word);
}
std::string_view to_string(FunctionKind kind) {
  return name_in(kFunctionKinds, kind);
}
std::optional<FunctionKind> function_kind(std::string_view name) {
  return value_in<FunctionKind>(kFunctionKinds, name);
}
std::string_view to_string(ArgumentKind kind) {
  return name_in(kArgumentKinds, kind);
}
std::string_view to_string(Access access) {
  return name_in(kAccesses, access);
}
std::string_view to_string(MemberKind kind) {
  return name_in(kMemberKinds, kind);
}

}  // namespace smelt
