// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text from outside, on its way to people and to make.
#pragma once

#include <string>
#include <string_view>

namespace smelt {

/// Whether it is well-formed UTF-8 (no overlong forms, no surrogates).
bool is_utf8(std::string_view text);

/// The same text with what could steer a terminal, or is no UTF-8, written as \xNN. Tabs and newlines stay.
std::string printable(std::string_view text);

/// As a string of JSON, quotes and all. What is no UTF-8 is written as `printable` writes it. (The loader is linked
/// into programs, so it brings no JSON library for this.)
std::string json_quoted(std::string_view text);

/// A path as make and ninja read it in a rule: blanks and # with a backslash, $ twice.
std::string quoted_for_make(std::string_view path);

}  // namespace smelt
