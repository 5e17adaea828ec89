// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/metallib/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

namespace smelt::metallib {
namespace {

// By FunctionType.
constexpr FunctionKind kFunctionKinds[] = {FunctionKind::vertex,       FunctionKind::fragment, FunctionKind::kernel,
                                           FunctionKind::unqualified,  FunctionKind::visible,  FunctionKind::external,
                                           FunctionKind::intersection, FunctionKind::mesh,     FunctionKind::object};
constexpr std::string_view kPlatforms[] = {"none",
                                           "macos",
                                           "ios",
                                           "tvos",
                                           "watchos",
                                           "bridgeos",
                                           "mac_catalyst",
                                           "ios_simulator",
                                           "tvos_simulator",
                                           "watchos_simulator",
                                           "driverkit",
                                           "visionos",
                                           "visionos_simulator"};
constexpr std::string_view kFileTypes[] = {"executable", "core_image", "dynamic_library", "symbol_companion"};

constexpr std::string_view kSections[] = {"functions",  "public_metadata", "private_metadata", "bitcode",
                                          "sources",    "dynamic_header",  "variables",        "imports",
                                          "reflection", "scripts"};
static_assert(std::size(kSections) == kSectionCount);

// Scalars whose vectors of 2, 3 and 4 follow them.
struct ScalarFamily {
  uint8_t first;
  std::string_view name;
};
constexpr ScalarFamily kScalars[] = {{3, "float"},  {16, "half"},   {29, "int"},   {33, "uint"},
                                     {37, "short"}, {41, "ushort"}, {45, "char"},  {49, "uchar"},
                                     {53, "bool"},  {81, "long"},   {85, "ulong"}, {121, "bfloat"}};

std::string name_in(std::span<const std::string_view> names, uint8_t value) {
  return value < names.size() ? std::string(names[value]) : std::to_string(value);
}

std::optional<uint8_t> number(std::string_view name) {
  uint8_t value = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return value;
}

std::optional<uint8_t> value_in(std::span<const std::string_view> names, std::string_view name) {
  if (const auto found = std::find(names.begin(), names.end(), name); found != names.end())
    return static_cast<uint8_t>(found - names.begin());
  return number(name);
}

}  // namespace

std::string function_type_name(uint8_t type) {
  return type < std::size(kFunctionKinds) ? std::string(to_string(kFunctionKinds[type])) : std::to_string(type);
}
FunctionKind kind_of(const Function& function) {
  const bool known = function.type && *function.type < std::size(kFunctionKinds);
  return known ? kFunctionKinds[*function.type] : FunctionKind::unqualified;
}
std::string platform_name(uint8_t platform) {
  return name_in(kPlatforms, platform);
}
std::string file_type_name(uint8_t type) {
  return name_in(kFileTypes, type);
}

std::string data_type_name(uint8_t type) {
  for (const ScalarFamily& family : kScalars) {
    if (type == family.first) return std::string(family.name);
    if (type > family.first && type < family.first + 4)
      return fmt::format("{}{}", family.name, type - family.first + 1);
  }
  return std::to_string(type);
}

std::optional<uint8_t> parse_function_type(std::string_view name) {
  const auto kind = function_kind(name);
  if (!kind) return number(name);
  return static_cast<uint8_t>(std::find(std::begin(kFunctionKinds), std::end(kFunctionKinds), *kind) - kFunctionKinds);
}
std::optional<uint8_t> parse_platform(std::string_view name) {
  return value_in(kPlatforms, name);
}
std::optional<uint8_t> parse_file_type(std::string_view name) {
  return value_in(kFileTypes, name);
}

std::string_view section_keyword(Section section) {
  return kSections[static_cast<size_t>(section)];
}
std::optional<Section> parse_section(std::string_view keyword) {
  const auto found = std::find(std::begin(kSections), std::end(kSections), keyword);
  if (found == std::end(kSections)) return std::nullopt;
  return static_cast<Section>(found - std::begin(kSections));
}

}  // namespace smelt::metallib
