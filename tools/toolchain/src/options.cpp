// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include "smelt/base/files.hpp"
#include "smelt/toolchain/toolchain.hpp"

#include <algorithm>

namespace smelt::toolchain {
namespace {

constexpr OptionRow kRows[] = {
#define SMELT_OPTION(tool, use, spelling, shape, fate, says) \
  {Tool::tool, Use::use, spelling, Shape::shape, Fate::fate, says},
#include "options.def"
#undef SMELT_OPTION
};

constexpr std::string_view kFates[] = {"honoured", "ignored", "ignored, with a warning", "refused"};
constexpr size_t kMostResponses = 32;  // files in files
constexpr size_t kMostWords = 1 << 20;

bool fits(const OptionRow& row, std::string_view word) {
  switch (row.shape) {
    case Shape::flag:
    case Shape::separate:
      return word == row.spelling;
    case Shape::joined:
    case Shape::either:
      return word.starts_with(row.spelling);
  }
  return false;
}

const OptionRow* find_row(Tool tool, std::string_view word) {
  const OptionRow* best = nullptr;
  for (const OptionRow& row : kRows)
    if (row.tool == tool && fits(row, word) && (best == nullptr || row.spelling.size() > best->spelling.size()))
      best = &row;
  return best;
}

/// How much of `a` and `b` is alike at their front.
size_t common_front(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

tl::unexpected<Error> unknown(Tool tool, std::string_view word) {
  std::string_view near;
  size_t best = 3;  // a dash and two letters
  for (const OptionRow& row : kRows) {
    const size_t common = row.tool == tool ? common_front(row.spelling, word) : 0;
    if (common > best) {
      best = common;
      near = row.spelling;
    }
  }
  if (near.empty()) return fail(Errc::invalid_argument, "unknown argument: '{}'", word);
  return fail(Errc::invalid_argument, "unknown argument '{}'; did you mean '{}'?", word, near);
}

/// One word or two, from words[at] on; `at` goes behind them.
Result<Argument> take(Tool tool, std::span<const std::string> words, size_t& at) {
  const std::string& word = words[at++];
  const OptionRow* row = find_row(tool, word);
  if (row == nullptr) return unknown(tool, word);
  Argument argument{row->use, {}, word, row};
  const bool joined = word.size() > row->spelling.size();
  if (joined) {
    argument.value = word.substr(row->spelling.size());
  } else if (row->shape == Shape::separate || row->shape == Shape::either) {
    if (at >= words.size()) return fail(Errc::invalid_argument, "argument to '{}' is missing (expected 1 value)", word);
    argument.value = words[at++];
  }
  if (row->fate == Fate::refused)
    return fail(Errc::invalid_argument, "unsupported option '{}': {}", argument.word, row->says);
  return argument;
}

/// ld's names and numbers.
Result<Use> use_of_platform(std::string_view name) {
  if (name == "macos" || name == "macosx" || name == "1") return Use::min_macos;
  if (name == "ios" || name == "2") return Use::min_ios;
  if (name == "tvos" || name == "3") return Use::min_tvos;
  if (name == "ios-simulator" || name == "7") return Use::min_ios_simulator;
  if (name == "tvos-simulator" || name == "8") return Use::min_tvos_simulator;
  return fail(Errc::invalid_argument,
              "unsupported value '{}' of '-platform_version': macos, ios, tvos and the simulators of the last two are "
              "targets",
              name);
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

}  // namespace

Result<Parsed> parse_options(Tool tool, std::span<const std::string> words, bool stops) {
  Parsed parsed;
  bool only_files = false;
  size_t at = 0;
  while (at < words.size()) {
    const std::string& word = words[at];
    if (only_files || word.size() < 2 || word[0] != '-') {
      if (stops) break;
      parsed.arguments.push_back({Use::input, word, word, nullptr});
      ++at;
      continue;
    }
    if (word == "--") {
      only_files = true;
      ++at;
      continue;
    }
    SMELT_TRY(Argument argument, take(tool, words, at));
    if (argument.use == Use::forward) {
      size_t inner = 0;
      const std::string forwarded = argument.value;
      SMELT_TRY(argument, take(tool, std::span(&forwarded, 1), inner));
    }
    if (argument.use == Use::platform_version) {
      // Two words more, of which the first is the one that counts.
      if (at + 1 >= words.size())
        return fail(Errc::invalid_argument, "argument to '{}' is missing (expected 3 values)", word);
      SMELT_TRY(argument.use, use_of_platform(argument.value));
      argument.value = words[at];
      at += 2;
    }
    if (argument.row->fate == Fate::warned)
      parsed.warnings.push_back(fmt::format("argument '{}': {}", argument.word, argument.row->says));
    parsed.arguments.push_back(std::move(argument));
  }
  parsed.rest = at;
  return parsed;
}

Result<std::vector<std::string>> expand_responses(std::span<const std::string> words) {
  std::vector<std::string> all(words.begin(), words.end());
  size_t files = 0;
  for (size_t i = 0; i < all.size();) {
    if (all[i].size() < 2 || all[i][0] != '@') {
      ++i;
      continue;
    }
    const auto text = read_file(all[i].substr(1));
    // As everywhere: what is no file is a word that begins with @.
    if (!text) {
      ++i;
      continue;
    }
    if (++files > kMostResponses)
      return fail(Errc::invalid_argument, "{}: more than {} response files; does one name itself?", all[i],
                  kMostResponses);
    const std::vector<std::string> inner = words_of(as_text(*text));
    const auto place = all.erase(all.begin() + static_cast<ptrdiff_t>(i));
    all.insert(place, inner.begin(), inner.end());
    if (all.size() > kMostWords) return fail(Errc::invalid_argument, "more than {} arguments", kMostWords);
  }
  return all;
}

std::string option_help(Tool tool) {
  std::string text;
  for (const OptionRow& row : kRows)
    if (row.tool == tool)
      text += fmt::format("  {:<32}{}{}\n", row.spelling, row.says,
                          row.fate == Fate::honoured ? "" : fmt::format(" ({})", kFates[static_cast<int>(row.fate)]));
  return text;
}

std::string option_table() {
  std::string text;
  constexpr std::pair<Tool, std::string_view> kTools[] = {
      {Tool::metal, "metal"}, {Tool::metallib, "metallib, air-lld"}, {Tool::xcrun, "xcrun"}};
  for (const auto& [tool, name] : kTools) {
    text += fmt::format("### {}\n\n| Option | | Effect or reason |\n|---|---|---|\n", name);
    for (const OptionRow& row : kRows) {
      if (row.tool != tool) continue;
      const std::string_view value = row.shape == Shape::flag       ? ""
                                     : row.shape == Shape::joined   ? "…"
                                     : row.shape == Shape::separate ? " …"
                                                                    : "[ ]…";
      text += fmt::format("| `{}{}` | {} | {} |\n", row.spelling, value, kFates[static_cast<int>(row.fate)], row.says);
    }
    text += "\n";
  }
  text.pop_back();
  return text;
}

}  // namespace smelt::toolchain
