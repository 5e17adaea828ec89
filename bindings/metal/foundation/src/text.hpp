// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings of text.
#pragma once
#include <string>
#include <string_view>

namespace smelt::foundation {

bool is_ascii(std::string_view text);
/** UTF-16 units of valid UTF-8. */
size_t units_of(std::string_view text);
std::u16string to_utf16(std::string_view text);
std::string from_utf16(std::u16string_view units);
/** False: the bytes are not text of the encoding, or it is not known. */
bool decode(std::string_view bytes, unsigned long encoding, std::string& text);
bool encode(std::string_view text, unsigned long encoding, std::string& bytes);
/** The number that the text begins with, in C's notation whatever the locale; else 0. */
double parse_double(std::string_view text);

}  // namespace smelt::foundation
