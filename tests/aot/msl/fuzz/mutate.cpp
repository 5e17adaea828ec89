// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mutate.hpp"

#include "words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <span>
#include <utility>

namespace smelt::test {
namespace {

using Random = std::mt19937_64;
using Tokens = std::vector<Token>;

template <size_t n>
const char* one_of(const char* const (&words)[n], Random& random) {
  return words[random() % n];
}

bool is_word_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// Where the comment or white space that begins at `at` ends; `at` itself when there is none.
size_t skip_blank(std::string_view source, size_t at) {
  if (source.substr(at).starts_with("//")) return std::min(source.find('\n', at), source.size());
  if (source.substr(at).starts_with("/*")) {
    const size_t end = source.find("*/", at + 2);
    return end == std::string_view::npos ? source.size() : end + 2;
  }
  while (at < source.size() && std::isspace(static_cast<unsigned char>(source[at])) != 0) ++at;
  return at;
}

size_t end_of_text(std::string_view source, size_t at) {
  const char quote = source[at];
  for (size_t i = at + 1; i < source.size() && source[i] != '\n'; ++i) {
    if (source[i] == '\\')
      ++i;
    else if (source[i] == quote)
      return i + 1;
  }
  return std::min(at + 1, source.size());
}

Token read_token(std::string_view source, size_t at) {
  const auto cut = [&](TokenKind kind, size_t end) { return Token{kind, std::string(source.substr(at, end - at))}; };
  size_t end = at;
  if (is_word_start(source[at]) || is_digit(source[at])) {
    const bool number = is_digit(source[at]);
    while (end < source.size() &&
           (is_word_start(source[end]) || is_digit(source[end]) || (number && source[end] == '.')))
      ++end;
    return cut(number ? TokenKind::number : TokenKind::word, end);
  }
  if (source[at] == '"' || source[at] == '\'') return cut(TokenKind::text, end_of_text(source, at));
  for (const std::string_view pair :
       {"[[", "]]", "::", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*="})
    if (source.substr(at).starts_with(pair)) return cut(TokenKind::mark, at + 2);
  return cut(TokenKind::mark, at + 1);
}

struct Range {
  size_t begin, end;
};

Range some_range(size_t size, size_t longest, Random& random) {
  const size_t begin = random() % size;
  return {begin, begin + 1 + random() % std::min(longest, size - begin)};
}

/// `count` whole lines from a random one on; all of `tokens` when they are one line.
Range some_lines(const Tokens& tokens, size_t count, Random& random) {
  const auto line_from = [&](size_t at) {
    while (at < tokens.size() && !tokens[at].first_on_line) ++at;
    return at;
  };
  size_t begin = line_from(random() % tokens.size());
  if (begin == tokens.size()) begin = 0;
  size_t end = begin;
  while (count-- > 0 && end < tokens.size()) end = line_from(end + 1);
  return {begin, end};
}

void insert(Tokens& tokens, size_t at, Tokens added) {
  tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(at), std::make_move_iterator(added.begin()),
                std::make_move_iterator(added.end()));
}

void erase(Tokens& tokens, Range range) {
  tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(range.begin),
               tokens.begin() + static_cast<std::ptrdiff_t>(range.end));
}

Tokens copy_of(const Tokens& tokens, Range range) {
  return Tokens(tokens.begin() + static_cast<std::ptrdiff_t>(range.begin),
                tokens.begin() + static_cast<std::ptrdiff_t>(range.end));
}

bool is_one_of(const std::string& text, std::span<const char* const> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return text == word; });
}

/// What may stand in a token's place and still be parsed, most of the time.
std::string like(const Tokens& tokens, size_t at, Random& random) {
  const Token& token = tokens[at];
  if (token.kind == TokenKind::number) return one_of(kNumbers, random);
  if (token.kind == TokenKind::text) return "\"\"";
  if (token.kind == TokenKind::mark) return is_one_of(token.text, kOperators) ? one_of(kOperators, random) : token.text;
  if (at > 0 && tokens[at - 1].text == "[[") return one_of(kAttributeNames, random);
  if (is_one_of(token.text, kTypes)) return one_of(kTypes, random);
  if (is_one_of(token.text, kSpaces)) return one_of(kSpaces, random);
  for (int tries = 0; tries < 8; ++tries) {
    const Token& other = tokens[random() % tokens.size()];
    if (other.kind == TokenKind::word && !is_one_of(other.text, kSpaces)) return other.text;
  }
  return token.text;
}

/// What nobody would write there.
std::string unlike(const Tokens& tokens, Random& random) {
  switch (random() % 5) {
    case 0:
      return one_of(kTypes, random);
    case 1:
      return one_of(kAttributes, random);
    case 2:
      return one_of(kWords, random);
    case 3:
      return one_of(kMarks, random);
    default:
      return tokens[random() % tokens.size()].text;
  }
}

/// A line that is whole: as many brackets closed as opened, and a semicolon at its end.
bool is_statement(const Tokens& tokens, Range line) {
  int depth = 0;
  for (size_t i = line.begin; i < line.end; ++i) {
    const std::string& text = tokens[i].text;
    depth += text == "(" || text == "{";
    depth -= text == ")" || text == "}";
    if (depth < 0) return false;
  }
  return depth == 0 && line.end > line.begin && tokens[line.end - 1].text == ";";
}

/// Statements moved about, tokens replaced with others of their kind: what mostly still is a program.
void change_gently(Tokens& tokens, Random& random) {
  if (random() % 4 != 0) {
    const size_t at = random() % tokens.size();
    tokens[at].text = like(tokens, at, random);
    return;
  }
  const Range line = some_lines(tokens, 1, random);
  if (!is_statement(tokens, line)) return;
  Tokens statement = copy_of(tokens, line);
  if (random() % 2 == 0) erase(tokens, line);
  if (tokens.empty() || random() % 3 == 0) return;
  insert(tokens, some_lines(tokens, 1, random).begin, std::move(statement));
}

}  // namespace

Tokens tokens_of(std::string_view source) {
  Tokens tokens;
  bool new_line = true, spaced = true;
  for (size_t at = 0; at < source.size();) {
    if (const size_t end = skip_blank(source, at); end != at) {
      // A backslash in front of the line's end joins it to the next one, as in a macro.
      const bool joined = !tokens.empty() && tokens.back().text == "\\";
      if (joined) tokens.pop_back();
      spaced = true;
      new_line |= !joined && source.substr(at, end - at).find('\n') != std::string_view::npos;
      at = end;
      continue;
    }
    Token token = read_token(source, at);
    at += token.text.size();
    token.first_on_line = std::exchange(new_line, false);
    token.spaced = std::exchange(spaced, false);
    tokens.push_back(std::move(token));
  }
  return tokens;
}

std::string text_of(const Tokens& tokens) {
  std::string text;
  for (const Token& token : tokens) {
    if (token.first_on_line)
      text += '\n';
    else if (token.spaced)
      text += ' ';
    text += token.text;
  }
  text += '\n';
  return text;
}

Mutator::Mutator(std::vector<CorpusFile> sources, std::vector<CorpusFile> donors, uint64_t seed)
    : sources_(std::move(sources)), donors_(std::move(donors)), seed_(seed) {
  const auto empty = [](const CorpusFile& file) { return file.tokens.empty(); };
  std::erase_if(sources_, empty);
  std::erase_if(donors_, empty);
}

const CorpusFile& Mutator::any_file(Random& random) const {
  const size_t index = random() % (sources_.size() + donors_.size());
  return index < sources_.size() ? sources_[index] : donors_[index - sources_.size()];
}

void Mutator::splice_tokens(Tokens& tokens, Random& random) const {
  const Tokens& other = any_file(random).tokens;
  insert(tokens, random() % (tokens.size() + 1), copy_of(other, some_range(other.size(), 24, random)));
}

void Mutator::splice_lines(Tokens& tokens, Random& random) const {
  const Tokens& other = any_file(random).tokens;
  const Range here = some_lines(tokens, 1 + random() % 3, random);
  Tokens lines = copy_of(other, some_lines(other, 1 + random() % 8, random));
  if (random() % 2 == 0) erase(tokens, here);
  insert(tokens, here.begin, std::move(lines));
}

void Mutator::change(Tokens& tokens, Random& random) const {
  const size_t at = random() % tokens.size();
  switch (random() % 16) {
    case 0:
    case 1:
      return erase(tokens, some_range(tokens.size(), 8, random));
    case 2:
      return insert(tokens, at, copy_of(tokens, some_range(tokens.size(), 16, random)));
    case 3:
      return std::swap(tokens[at].text, tokens[random() % tokens.size()].text);
    case 4: {  // a move: of a statement, an argument, a half of something
      const Range range = some_range(tokens.size(), 12, random);
      Tokens moved = copy_of(tokens, range);
      erase(tokens, range);
      return insert(tokens, random() % (tokens.size() + 1), std::move(moved));
    }
    case 5:
    case 6:
      return splice_tokens(tokens, random);
    case 7:
    case 8:
      return splice_lines(tokens, random);
    case 9:
      return erase(tokens, some_lines(tokens, 1 + random() % 4, random));
    case 10: {  // what was not in brackets now is
      static constexpr std::array<std::array<const char*, 2>, 4> kBrackets = {
          {{"(", ")"}, {"{", "}"}, {"<", ">"}, {"[[", "]]"}}};
      const Range range = some_range(tokens.size(), 12, random);
      const auto& pair = kBrackets[random() % kBrackets.size()];
      insert(tokens, range.end, {Token{TokenKind::mark, pair[1]}});
      return insert(tokens, range.begin, {Token{TokenKind::mark, pair[0]}});
    }
    case 11:
      return insert(tokens, at, {Token{TokenKind::word, one_of(kWords, random)}});
    case 12: {  // depth: seldom, as it is slow
      const size_t times = random() % 8 == 0 ? 1 + random() % 3000 : 2;
      return insert(tokens, at, Tokens(times, Token{tokens[at].kind, tokens[at].text}));
    }
    default:
      tokens[at].text = unlike(tokens, random);
  }
}

Mutator::Mutant Mutator::make(uint64_t number) const {
  std::seed_seq mixed{static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32), static_cast<uint32_t>(number),
                      static_cast<uint32_t>(number >> 32)};
  Random random(mixed);
  const CorpusFile& source = sources_[random() % sources_.size()];
  Tokens tokens = source.tokens;
  // Mostly a few changes, and mostly gentle ones: a source full of errors ends in the parser.
  const bool gently = random() % 3 != 0;
  for (size_t changes = 1 + random() % (random() % 4 == 0 ? 12 : 3); changes > 0 && !tokens.empty(); --changes)
    gently ? change_gently(tokens, random) : change(tokens, random);
  return {source.name, text_of(tokens)};
}

}  // namespace smelt::test
