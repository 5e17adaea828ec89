// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "messages.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <optional>

namespace smelt::toolchain {
namespace {

struct Kind {
  std::string_view word, colour;
};
constexpr std::array<Kind, 3> kKinds = {
    {{"error: ", "\033[0;1;31m"}, {"warning: ", "\033[0;1;35m"}, {"note: ", "\033[0;1;30m"}}};
constexpr std::string_view kBold = "\033[1m", kCaret = "\033[0;1;32m", kPlain = "\033[0m";

/// Where the kind stands in "x.metal:3:5: error: ..." or "metal: error: ..."; nothing in a line without.
std::pair<size_t, const Kind*> find_kind(std::string_view line) {
  for (const Kind& kind : kKinds) {
    const size_t at = line.find(kind.word);
    if (at == 0 || (at != std::string_view::npos && at >= 2 && line.substr(at - 2, 2) == ": ")) return {at, &kind};
  }
  return {0, nullptr};
}

std::string coloured(std::string_view line) {
  const auto [at, kind] = find_kind(line);
  if (kind == nullptr) {
    if (line.find_first_not_of(" \t^~") == std::string_view::npos) return fmt::format("{}{}{}", kCaret, line, kPlain);
    return std::string(line);
  }
  return fmt::format("{}{}{}{}{}{}{}{}", kBold, line.substr(0, at), kind->colour, kind->word, kPlain, kBold,
                     line.substr(at + kind->word.size()), kPlain);
}

/// "x.metal:3:5" to its parts; other words are a file.
void set_place(aot::DiagnosticLine& into, std::string_view place) {
  uint32_t numbers[2] = {};  // column, line
  std::string_view rest = place;
  for (uint32_t& number : numbers) {
    const size_t colon = rest.rfind(':');
    if (colon == std::string_view::npos) return;
    const char* const end = rest.data() + rest.size();
    const auto read = std::from_chars(rest.data() + colon + 1, end, number);
    if (read.ec != std::errc() || read.ptr != end) return;
    rest = rest.substr(0, colon);
  }
  into.file = rest;
  into.column = numbers[0];
  into.line = numbers[1];
}

/// Nothing of a line that is no message.
std::optional<aot::DiagnosticLine> read_line(std::string_view line) {
  const auto [at, kind] = find_kind(line);
  if (kind == nullptr) return std::nullopt;
  aot::DiagnosticLine read;
  using Level = aot::DiagnosticLine::Level;
  constexpr Level kLevels[] = {Level::error, Level::warning, Level::note};
  read.level = kLevels[kind - kKinds.data()];
  if (at >= 2) set_place(read, line.substr(0, at - 2));
  std::string_view text = line.substr(at + kind->word.size());
  // "[-Werror,-Wname]": the last word is the flag's.
  if (const size_t open = text.rfind(" [-W"); open != std::string_view::npos && text.ends_with(']')) {
    const std::string_view flags = text.substr(open + 2, text.size() - open - 3);
    read.flag = flags.substr(flags.rfind("-W") + 2);
    text = text.substr(0, open);
  }
  read.text = text;
  return read;
}

}  // namespace

Messages::Messages(std::string_view tool) : tool_(tool), colour_(::isatty(STDERR_FILENO) == 1) {}

void Messages::print(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    // The compiler puts the source line and its caret two columns in; Clang does not.
    if (line.starts_with("  ")) line.remove_prefix(2);
    if (auto message = read_line(line)) told_.push_back(std::move(*message));
    const std::string shown = printable(line);
    fmt::print(stderr, "{}\n", colour_ ? coloured(shown) : shown);
  }
}

void Messages::warning(std::string_view text) {
  print(fmt::format("{}: warning: {}", tool_, text));
}

void Messages::error(std::string_view text) {
  print(fmt::format("{}: error: {}", tool_, text));
  ++errors_;
}

void Messages::error(const Error& error) {
  const std::string_view text = error.message;
  size_t found = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const auto [place, kind] = find_kind(text.substr(at, end - at));
    if (kind == &kKinds[0] && place != 0) ++found;
    at = end + 1;
  }
  if (found == 0) return this->error(text);
  print(text);
  errors_ += found;
  from_compiler_ = true;
}

void Messages::compiler_warning(std::string_view text) {
  std::string_view first = text;
  while (first.starts_with("In file included from "))
    first.remove_prefix(std::min(first.find('\n'), first.size() - 1) + 1);
  if (find_kind(first.substr(0, first.find('\n'))).second == nullptr) return warning(text);
  print(text);
  ++warnings_;
  from_compiler_ = true;
}

void Messages::note(std::string_view line) {
  fmt::print(stderr, "{}\n", printable(line));
}

void Messages::finish() {
  if (!from_compiler_) return;
  const auto counted = [](size_t number, const char* word) {
    return fmt::format("{} {}{}", number, word, number == 1 ? "" : "s");
  };
  std::string text;
  if (warnings_ != 0) text = counted(warnings_, "warning");
  if (errors_ != 0) text += (text.empty() ? "" : " and ") + counted(errors_, "error");
  fmt::print(stderr, "{} generated.\n", text);
}

}  // namespace smelt::toolchain
