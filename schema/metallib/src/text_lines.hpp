// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text form's lines, words and payloads; what the words mean is text_in.cpp's business.
#pragma once

#include "smelt/base/bytes.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::metallib {

struct Word {
  std::string text;
  bool quoted = false;
  bool with_nul = false;  ///< z"..."
  bool is(std::string_view plain) const { return !quoted && text == plain; }
};

/// The words of one line, taken from left to right. Everything that fails says the line's number.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(text) {}

  /// Goes to the next line that has words; false at the end.
  Result<bool> next_line();
  size_t number() const { return number_; }
  /// No words left on the line.
  bool at_end() const { return at_ == words_.size(); }
  /// The next word, without taking it; null at the end of the line.
  const Word* peek() const { return at_end() ? nullptr : &words_[at_]; }

  Result<Word> take(std::string_view what);
  Result<void> expect(std::string_view keyword);
  Result<std::string> take_quoted(std::string_view what);
  Result<uint64_t> take_number(std::string_view what, uint64_t most);
  Result<bool> take_yes_or_no();
  /// A row of items up to the line's end or, from "{", to its "}".
  Result<Bytes> take_payload();
  Result<void> expect_line_end() const;

  template <class... Args>
  tl::unexpected<Error> fail_here(fmt::format_string<Args...> format, Args&&... args) const {
    return fail(Errc::invalid_argument, "line {}: {}", number_, fmt::format(format, std::forward<Args>(args)...));
  }

  /// Plain decimal or 0x hexadecimal.
  static std::optional<uint64_t> to_number(std::string_view text);

 private:
  Result<void> split(std::string_view line);
  Result<Word> split_quoted(std::string_view line, size_t& at) const;
  Result<void> append_item(const Word& word, ByteWriter& out);
  Result<void> append_number(const Word& word, ByteWriter& out);

  std::string_view rest_;
  std::vector<Word> words_;
  size_t at_ = 0;
  size_t number_ = 0;
  uint64_t zeros_ = 0;  ///< asked for so far
};

/// An even number of hexadecimal digits.
std::optional<Bytes> bytes_from_hex(std::string_view hex);

}  // namespace smelt::metallib
