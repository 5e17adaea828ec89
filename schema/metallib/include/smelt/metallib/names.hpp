// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of the container's numbers, as printed by the text form and by `smelt inspect`, and back.
#pragma once

#include "smelt/base/metal.hpp"
#include "smelt/metallib/library.hpp"

#include <optional>
#include <string>

namespace smelt::metallib {

/// "kernel", "macos", "executable"; a number without a name is printed as the number.
std::string function_type_name(uint8_t type);
std::string platform_name(uint8_t platform);
std::string file_type_name(uint8_t type);
/// MTLDataType: "float", "int", "bool", ... or the number.
std::string data_type_name(uint8_t type);

/// What the function is: unqualified when its type is absent or has no name.
FunctionKind kind_of(const Function& function);

/// A name or a decimal number; nothing for anything else.
std::optional<uint8_t> parse_function_type(std::string_view name);
std::optional<uint8_t> parse_platform(std::string_view name);
std::optional<uint8_t> parse_file_type(std::string_view name);

/// "functions", "public_metadata", ...: one word per section.
std::string_view section_keyword(Section section);
std::optional<Section> parse_section(std::string_view keyword);

}  // namespace smelt::metallib
