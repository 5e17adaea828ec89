// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where in a source an error is.
#include "inputs/kind.hpp"
#include "ir_reader/text/ir_lexer.hpp"
#include "units/units.hpp"

#include <algorithm>

namespace smelt::aot {

Error placed(Error error, const Source& source) {
  // "x.metal:3:5: error: ..." has all that can be said.
  if (error.message.starts_with(source.name + ":")) return error;
  if (input::detect_kind(source.bytes) == input::Kind::text_ir) {
    const std::string_view text = as_text(source.bytes);
    const std::string_view message = error.message;
    uint32_t line = 0;
    // An operation is the best place: air.x or llvm.x, quoted or not.
    constexpr std::string_view kNameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    for (size_t at = 0; at < message.size() && line == 0;) {
      const size_t end = std::min(message.find_first_not_of(kNameChars, at), message.size());
      std::string_view word = message.substr(at, end - at);
      while (word.ends_with('.')) word.remove_suffix(1);
      if (word.starts_with("air.") || word.starts_with("llvm.")) line = input::line_of_global(text, word);
      at = end + 1;
    }
    // Else the first function or global that stands in quotes.
    for (size_t open = message.find('\''); open != std::string_view::npos && line == 0;) {
      const size_t close = message.find('\'', open + 1);
      if (close == std::string_view::npos) break;
      line = input::line_of_global(text, message.substr(open + 1, close - open - 1));
      open = message.find('\'', close + 1);
    }
    if (line != 0) error.message = fmt::format("line {}: {}", line, error.message);
  }
  return std::move(error).in(source.name);
}

}  // namespace smelt::aot
