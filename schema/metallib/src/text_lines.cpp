// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "text_lines.hpp"

#include <charconv>

namespace smelt::metallib {
namespace {

constexpr uint64_t kMostZeros = 64u << 20;

int nibble(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

}  // namespace

std::optional<Bytes> bytes_from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  Bytes bytes;
  bytes.reserve(hex.size() / 2);
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = nibble(hex[i]), low = nibble(hex[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<std::byte>(16 * high + low));
  }
  return bytes;
}

std::optional<uint64_t> TextLines::to_number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<bool> TextLines::next_line() {
  words_.clear();
  at_ = 0;
  while (words_.empty()) {
    if (rest_.empty()) return false;
    ++number_;
    const size_t end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    SMELT_TRY_VOID(split(line));
  }
  return true;
}

Result<void> TextLines::split(std::string_view line) {
  for (size_t i = 0; i < line.size();) {
    const char c = line[i];
    if (is_space(c)) {
      ++i;
    } else if (c == '#') {
      return {};
    } else if (c == '{' || c == '}') {
      words_.push_back({std::string(1, c)});
      ++i;
    } else if (c == '"' || (c == 'z' && i + 1 < line.size() && line[i + 1] == '"')) {
      SMELT_TRY(Word word, split_quoted(line, i));
      words_.push_back(std::move(word));
    } else {
      const size_t start = i;
      while (i < line.size() && !is_space(line[i]) && line[i] != '{' && line[i] != '}' && line[i] != '"' &&
             line[i] != '#')
        ++i;
      words_.push_back({std::string(line.substr(start, i - start))});
    }
  }
  return {};
}

/// From the opening quote (or its z) to behind the closing one. \" \\ \xHH.
Result<Word> TextLines::split_quoted(std::string_view line, size_t& at) const {
  Word word{.text = {}, .quoted = true, .with_nul = line[at] == 'z'};
  for (at += word.with_nul ? 2 : 1; at < line.size(); ++at) {
    if (line[at] == '"') {
      ++at;
      return word;
    }
    if (line[at] != '\\') {
      word.text += line[at];
    } else if (at + 3 < line.size() && line[at + 1] == 'x' && nibble(line[at + 2]) >= 0 && nibble(line[at + 3]) >= 0) {
      word.text += static_cast<char>(16 * nibble(line[at + 2]) + nibble(line[at + 3]));
      at += 3;
    } else if (at + 1 < line.size() && (line[at + 1] == '"' || line[at + 1] == '\\')) {
      word.text += line[++at];
    } else {
      return fail_here("unknown escape; want \\\", \\\\ or \\xHH");
    }
  }
  return fail_here("text without its closing quote");
}

Result<Word> TextLines::take(std::string_view what) {
  if (at_end()) return fail_here("want {}, found the line's end", what);
  return words_[at_++];
}

Result<void> TextLines::expect(std::string_view keyword) {
  SMELT_TRY(const Word word, take(keyword));
  if (!word.is(keyword)) return fail_here("want '{}', found '{}'", keyword, word.text);
  return {};
}

Result<std::string> TextLines::take_quoted(std::string_view what) {
  SMELT_TRY(Word word, take(what));
  if (!word.quoted || word.with_nul) return fail_here("want {} in quotes, found '{}'", what, word.text);
  return std::move(word.text);
}

Result<uint64_t> TextLines::take_number(std::string_view what, uint64_t most) {
  SMELT_TRY(const Word word, take(what));
  const auto number = word.quoted ? std::nullopt : to_number(word.text);
  if (!number || *number > most) return fail_here("want {}, a number up to {}, found '{}'", what, most, word.text);
  return *number;
}

Result<bool> TextLines::take_yes_or_no() {
  SMELT_TRY(const Word word, take("yes or no"));
  if (!word.is("yes") && !word.is("no")) return fail_here("want yes or no, found '{}'", word.text);
  return word.is("yes");
}

Result<Bytes> TextLines::take_payload() {
  ByteWriter out;
  while (!at_end()) {
    const Word word = words_[at_++];
    if (!word.is("{")) {
      SMELT_TRY_VOID(append_item(word, out));
      continue;
    }
    for (;;) {
      if (at_end()) {
        SMELT_TRY(const bool more, next_line());
        if (!more) return fail_here("'{{' without its '}}'");
      }
      const Word inner = words_[at_++];
      if (inner.is("}")) break;
      SMELT_TRY_VOID(append_item(inner, out));
    }
  }
  return out.take();
}

Result<void> TextLines::append_item(const Word& word, ByteWriter& out) {
  if (word.quoted) {
    out.put_text(word.text);
    if (word.with_nul) out.put<uint8_t>(0);
    return {};
  }
  if (word.text.find(':') != std::string::npos) return append_number(word, out);
  const auto bytes = bytes_from_hex(word.text);
  if (!bytes)
    return fail_here("'{}' is not a payload item: want hexadecimal bytes, text, u16:N, zero:N ...", word.text);
  out.put_bytes(*bytes);
  return {};
}

Result<void> TextLines::append_number(const Word& word, ByteWriter& out) {
  const size_t colon = word.text.find(':');
  const std::string_view kind = std::string_view(word.text).substr(0, colon);
  const auto number = to_number(std::string_view(word.text).substr(colon + 1));
  if (number && kind == "zero") {
    if (*number > kMostZeros - zeros_) return fail_here("'{}': more than {} zeros in all", word.text, kMostZeros);
    zeros_ += *number;
    out.put_bytes(Bytes(*number));
  } else if (number && kind == "u8" && *number <= 0xFF) {
    out.put<uint8_t>(static_cast<uint8_t>(*number));
  } else if (number && kind == "u16" && *number <= 0xFFFF) {
    out.put<uint16_t>(static_cast<uint16_t>(*number));
  } else if (number && kind == "u32" && *number <= 0xFFFFFFFF) {
    out.put<uint32_t>(static_cast<uint32_t>(*number));
  } else if (number && kind == "u64") {
    out.put<uint64_t>(*number);
  } else {
    return fail_here("'{}': want u8, u16, u32, u64 or zero, ':' and a number that fits", word.text);
  }
  return {};
}

Result<void> TextLines::expect_line_end() const {
  if (at_end()) return {};
  return fail_here("'{}' after the end of the statement", words_[at_].text);
}

}  // namespace smelt::metallib
