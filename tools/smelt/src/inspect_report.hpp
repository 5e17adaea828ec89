// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `smelt inspect` has to say, as JSON; the text for people is made from the same values. docs/reference/cli.md
// names the keys that others rely on: kind, functions (name, type, arguments), slices (target, bytes, sha256,
// functions, missing; of CPU code: code).
#pragma once

#include "smelt/aot/kernel_info.hpp"
#include "smelt/base/bytes.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace smelt::cli {

using Json = nlohmann::ordered_json;

/// A Metal library, or a universal file with some inside.
Result<Json> report_metallib(ByteView file);
/// A package.
Result<Json> report_package(ByteView file);

/// What a module says of an argument and of a function constant.
Json argument_json(const aot::ArgumentInfo& argument);
Json constant_json(const aot::ConstantInfo& constant);

/// The report as lines for people.
std::string report_as_text(const Json& report, const std::string& name);

}  // namespace smelt::cli
