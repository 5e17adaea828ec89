// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir_reader/text/ir_lexer.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace smelt::aot::input {
namespace {

// One table lookup a character: this runs over every byte of every input.
enum CharClass : uint8_t { kNameChar = 1, kDigit = 2, kWordChar = 4, kWordStart = 8 };

constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[c] = table[c - 32] = kNameChar | kWordChar | kWordStart;
  for (int c = '0'; c <= '9'; ++c) table[c] = kNameChar | kWordChar | kDigit;
  table['_'] = kNameChar | kWordChar | kWordStart;
  table['-'] = table['$'] = table['.'] = kNameChar;
  return table;
}
constexpr std::array<uint8_t, 256> kClasses = make_classes();

bool in_class(char c, uint8_t mask) {
  return (kClasses[static_cast<unsigned char>(c)] & mask) != 0;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) { list_.source = source; }

  Result<TokenList> run() {
    list_.tokens.reserve(source_.size() / 5);
    while (at_ < source_.size()) SMELT_TRY_VOID(step());
    if (!open_.empty()) {
      line_ = open_.back().second;
      return stop("'{}' is not closed before the text ends", open_.back().first);
    }
    return std::move(list_);
  }

 private:
  template <class... Args>
  tl::unexpected<Error> stop(fmt::format_string<Args...> format, Args&&... args) {
    return fail(Errc::compile_failed, "line {}: {}", line_, fmt::format(format, std::forward<Args>(args)...));
  }

  char peek(size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  void add(TokenKind kind, size_t end) {
    list_.tokens.push_back({static_cast<uint32_t>(at_), static_cast<uint32_t>(end), line_, kind});
    at_ = end;
  }

  size_t run_of(size_t from, uint8_t mask) const {
    while (from < source_.size() && in_class(source_[from], mask)) ++from;
    return from;
  }

  /// `from` is just past the opening quote. Newlines inside are counted after the token is placed on its first line.
  Result<void> quoted(size_t from, TokenKind kind) {
    const size_t close = source_.find('"', from);
    if (close == std::string_view::npos) return stop("a string or quoted name has no closing '\"'");
    size_t end = close + 1;
    if (kind == TokenKind::string && end < source_.size() && source_[end] == ':') {
      kind = TokenKind::label;
      ++end;
    }
    const size_t begin = at_;
    add(kind, end);
    for (size_t i = begin; i < end; ++i) line_ += source_[i] == '\n';
    return {};
  }

  Result<void> sigil(TokenKind kind) {
    if (peek(1) == '"') return quoted(at_ + 2, kind);
    const size_t end = run_of(at_ + 1, kNameChar);
    if (end == at_ + 1) return stop("'{}' is not followed by a name", peek());
    if (kind == TokenKind::comdat && end < source_.size() && source_[end] == ':') {
      add(TokenKind::label, end + 1);
      return {};
    }
    add(kind, end);
    return {};
  }

  void word() {
    const size_t label_end = run_of(at_, kNameChar);
    if (label_end < source_.size() && source_[label_end] == ':') return add(TokenKind::label, label_end + 1);
    add(TokenKind::word, run_of(at_, kWordChar));
  }

  /// Numbers, and labels that start with a digit or '-'.
  Result<void> number() {
    const size_t label_end = run_of(at_, kNameChar);
    if (label_end < source_.size() && source_[label_end] == ':' && peek() != '+') {
      add(TokenKind::label, label_end + 1);
      return {};
    }
    size_t end = at_ + (peek() == '-' || peek() == '+');
    if (end >= source_.size() || !in_class(source_[end], kDigit))
      return stop("'{}' is not followed by a digit", peek());
    if (source_[end] == '0' && end + 1 < source_.size() && source_[end + 1] == 'x') {
      add(TokenKind::number, run_of(end + 2, kWordChar));
      return {};
    }
    end = run_of(end, kDigit);
    if (end < source_.size() && source_[end] == '.') {
      end = run_of(end + 1, kDigit);
      if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
        size_t digits = end + 1;
        if (digits < source_.size() && (source_[digits] == '-' || source_[digits] == '+')) ++digits;
        if (digits < source_.size() && in_class(source_[digits], kDigit)) end = run_of(digits, kDigit);
      }
    }
    add(TokenKind::number, end);
    return {};
  }

  Result<void> block_comment() {
    const size_t close = source_.find("*/", at_ + 2);
    if (close == std::string_view::npos) return stop("a /* comment is not closed");
    const size_t end = close + 2;
    list_.block_comments.push_back(
        {static_cast<uint32_t>(at_), static_cast<uint32_t>(end), line_, TokenKind::punctuation});
    for (; at_ < end; ++at_) line_ += source_[at_] == '\n';
    return {};
  }

  Result<void> bracket(char c) {
    if (c == '(' || c == '[' || c == '{' || c == '<') {
      if (open_.size() == kMaxNesting)
        return stop("brackets are nested more than {} deep; flatten the constant, type or metadata", kMaxNesting);
      open_.emplace_back(c, line_);
    } else if (c == ')' || c == ']' || c == '}' || c == '>') {
      const char wanted = c == ')' ? '(' : static_cast<char>(c - 2);
      if (open_.empty() || open_.back().first != wanted) return stop("'{}' closes nothing", c);
      open_.pop_back();
    }
    add(TokenKind::punctuation, at_ + 1);
    return {};
  }

  Result<void> step() {
    const char c = source_[at_];
    if (in_class(c, kWordStart)) {
      word();
      return {};
    }
    switch (c) {
      case '\n':
        ++line_;
        [[fallthrough]];
      case ' ':
      case '\t':
      case '\r':
        ++at_;
        return {};
      case ';':
        at_ = std::min(source_.find('\n', at_), source_.size());
        return {};
      case '@':
        return sigil(TokenKind::global);
      case '%':
        return sigil(TokenKind::local);
      case '$':
        return sigil(TokenKind::comdat);
      case '"':
        return quoted(at_ + 1, TokenKind::string);
      case '!': {
        // Metadata names may hold backslash escapes; a digit starts a number instead.
        size_t end = at_ + 1;
        while (end < source_.size() && (in_class(source_[end], kNameChar) || source_[end] == '\\')) ++end;
        const bool named = end > at_ + 1 && !in_class(source_[at_ + 1], kDigit);
        add(named ? TokenKind::metadata : TokenKind::punctuation, named ? end : at_ + 1);
        return {};
      }
      case '#':
        if (in_class(peek(1), kDigit))
          add(TokenKind::group, run_of(at_ + 1, kDigit));
        else
          add(TokenKind::punctuation, at_ + 1);
        return {};
      case '.':
        if (source_.substr(at_, 3) == "...") {
          add(TokenKind::punctuation, at_ + 3);
          return {};
        }
        if (const size_t end = run_of(at_, kNameChar); end < source_.size() && source_[end] == ':') {
          add(TokenKind::label, end + 1);
          return {};
        }
        return stop("a stray '.'");
      case '/':
        if (peek(1) == '*') return block_comment();
        return stop("a stray '/'");
      case '=':
      case ',':
      case '*':
      case '|':
      case ':':
      case '^':
        add(TokenKind::punctuation, at_ + 1);
        return {};
      case '(':
      case ')':
      case '[':
      case ']':
      case '{':
      case '}':
      case '<':
      case '>':
        return bracket(c);
      default:
        break;
    }
    if (in_class(c, kDigit) || c == '-' || c == '+') return number();
    const auto code = static_cast<unsigned>(static_cast<unsigned char>(c));
    if (code > 0x20 && code < 0x7F) return stop("'{}' starts nothing in LLVM IR", c);
    return stop("byte 0x{:02x} starts nothing in LLVM IR", code);
  }

  std::string_view source_;
  TokenList list_;
  std::vector<std::pair<char, uint32_t>> open_;
  size_t at_ = 0;
  uint32_t line_ = 1;
};

}  // namespace

Result<TokenList> tokenize(std::string_view source) {
  if (source.size() > kMaxTextBytes)
    return fail(Errc::unsupported, "the text has {} bytes, at most {} are read; split the module", source.size(),
                kMaxTextBytes);
  return Lexer(source).run();
}

std::string_view bare_name(std::string_view token) {
  if (!token.empty() && (token[0] == '@' || token[0] == '%' || token[0] == '$' || token[0] == '!'))
    token.remove_prefix(1);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') return token.substr(1, token.size() - 2);
  return token;
}

uint32_t line_of_global(std::string_view source, std::string_view name) {
  const auto list = tokenize(source);
  if (!list) return 0;
  for (const Token& token : list->tokens)
    if (token.kind == TokenKind::global && bare_name(list->text(token)) == name) return token.line;
  return 0;
}

}  // namespace smelt::aot::input
