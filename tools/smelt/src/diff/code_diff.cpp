// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In three steps: lines are matched by their shape, which is the line with every number of a value masked; matched
// lines that define something say which number of A is which of B; and a matched line whose other numbers do not agree
// with that is a difference after all.
#include "diff/code_diff.hpp"

#include "diff/line_match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace smelt::cli {
namespace {

/// "%5" in the third function: { '%', 3, 5 }. The numbers of all but values count for the whole module.
struct Reference {
  char kind = '%';
  size_t function = 0;
  uint64_t number = 0;
  auto operator<=>(const Reference&) const = default;
};

struct Line {
  std::string text;   ///< without comments
  std::string shape;  ///< with "?" for numbers
  std::vector<Reference> references;
  std::vector<std::pair<size_t, size_t>> digits;  ///< of each reference: where they begin in the text, and end
  size_t function = 0;                            ///< whose values its "%5" are
  bool is_metadata = false;                       ///< "!5 = ..."
  bool opens_function = false;
  bool defines_first = false;  ///< the first reference is what the line defines
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '$' ||
         c == '-';
}

/// The number behind a sigil at `at`, if it is one and not a name that begins with digits.
std::optional<std::pair<uint64_t, size_t>> number_at(std::string_view text, size_t at) {
  uint64_t number = 0;
  const auto parsed = std::from_chars(text.data() + at, text.data() + text.size(), number);
  const auto end = static_cast<size_t>(parsed.ptr - text.data());
  if (parsed.ec != std::errc() || (end < text.size() && is_name(text[end]))) return std::nullopt;
  return std::pair(number, end);
}

/// Where a comment begins that is not inside quotes.
std::string_view without_comment(std::string_view text) {
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == ';' && !quoted) {
      text = text.substr(0, i);
      break;
    }
  }
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Line read_line(std::string_view text, size_t function) {
  Line line;
  line.text = text;
  line.is_metadata = text.size() > 1 && text[0] == '!' && is_digit(text[1]);
  line.opens_function = text.starts_with("define ");
  if (line.opens_function) ++function;
  line.function = function;
  if (const auto label = number_at(text, 0); label && text.substr(label->second) == ":") {
    line.references.push_back({'%', function, label->first});
    line.digits.emplace_back(0, label->second);
    line.shape = "?:";
    line.defines_first = true;
    return line;
  }
  bool quoted = false;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    const bool sigil = !quoted && (c == '%' || c == '!' || c == '#' || c == '@');
    const auto number = sigil ? number_at(text, i + 1) : std::nullopt;
    line.shape += c;
    ++i;
    if (!number) continue;
    line.references.push_back({c, c == '%' ? function : 0, number->first});
    line.digits.emplace_back(i, number->second);
    line.shape += '?';
    i = number->second;
  }
  line.defines_first = line.shape.find_first_of("%!@") == (line.shape.starts_with("  ") ? 2 : 0) &&
                       line.shape.substr(line.shape.find_first_of("%!@") + 1).starts_with("? = ");
  line.defines_first = line.defines_first || line.shape.starts_with("attributes #?");
  return line;
}

std::vector<Line> read_lines(std::string_view text) {
  std::vector<Line> lines;
  size_t functions = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = without_comment(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (line.empty()) continue;
    lines.push_back(read_line(line, functions));
    if (lines.back().opens_function) ++functions;
  }
  return lines;
}

/// Which of A is which of B, as far as is known.
class Renaming {
 public:
  void learn(const Reference& a, const Reference& b) {
    if (a.kind != b.kind) return;
    forward_.try_emplace(a, b);
    backward_.try_emplace(b, a);
  }
  void learn(const Line& a, const Line& b) {
    if (a.opens_function && b.opens_function)
      for (size_t i = 0; i < std::min(a.references.size(), b.references.size()); ++i) {
        if (a.references[i].kind == '%') learn(a.references[i], b.references[i]);
      }
    else if (a.defines_first && b.defines_first)
      learn(a.references.front(), b.references.front());
  }
  bool agrees(const Reference& a, const Reference& b) const {
    const auto to = forward_.find(a);
    const auto from = backward_.find(b);
    return to != forward_.end() && from != backward_.end() && to->second == b && from->second == a;
  }
  /// Which of A a reference of B is; null when A has none that is known.
  const Reference* in_a(const Reference& b) const {
    const auto from = backward_.find(b);
    return from != backward_.end() && agrees(from->second, b) ? &from->second : nullptr;
  }

 private:
  std::map<Reference, Reference> forward_, backward_;
};

enum class Change : uint8_t { none, metadata, code };

class Comparison {
 public:
  Comparison(std::string_view a, std::string_view b) : a_(read_lines(a)), b_(read_lines(b)) {
    std::map<std::string_view, uint32_t> numbers;
    const auto number = [&](const std::vector<Line>& lines) {
      std::vector<uint32_t> result;
      for (const Line& line : lines)
        result.push_back(numbers.try_emplace(line.shape, static_cast<uint32_t>(numbers.size())).first->second);
      return result;
    };
    const std::vector<uint32_t> shapes_a = number(a_), shapes_b = number(b_);
    matches_ = match_lines(shapes_a, shapes_b);
    learn();
    judge();
  }

  CodeDiff diff(size_t most) {
    CodeDiff result;
    const auto count_in = [](const std::vector<Change>& changes, Change which) {
      return static_cast<size_t>(std::count(changes.begin(), changes.end(), which));
    };
    result.metadata = count_in(changes_a_, Change::metadata) + count_in(changes_b_, Change::metadata);
    const bool code = count_in(changes_a_, Change::code) + count_in(changes_b_, Change::code) > 0;
    const Change least = code ? Change::code : Change::metadata;
    result.removed = count_in(changes_a_, least);
    result.added = count_in(changes_b_, least);
    print(result, least, most);
    return result;
  }

 private:
  /// From lines that match; and from lines that do not, but stand in each other's place and define a value each: then
  /// what uses the value is no difference of its own.
  void learn() {
    size_t next_a = 0, next_b = 0;
    for (size_t i = 0; i <= a_.size(); ++i) {
      const bool at_end = i == a_.size();
      if (!at_end && !matches_[i]) continue;
      const size_t match = at_end ? b_.size() : *matches_[i];
      if (i - next_a == match - next_b)
        for (size_t k = 0; next_a + k < i; ++k) renaming_.learn(a_[next_a + k], b_[next_b + k]);
      if (!at_end) renaming_.learn(a_[i], b_[match]);
      next_a = i + 1;
      next_b = match + 1;
    }
  }

  void judge() {
    changes_a_.assign(a_.size(), Change::code);
    changes_b_.assign(b_.size(), Change::code);
    for (size_t i = 0; i < a_.size(); ++i) {
      if (a_[i].is_metadata) changes_a_[i] = Change::metadata;
      if (!matches_[i]) continue;
      Change change = Change::none;
      for (size_t r = 0; r < a_[i].references.size(); ++r) {
        if (renaming_.agrees(a_[i].references[r], b_[*matches_[i]].references[r])) continue;
        // What attributes a number stands for is told where they are listed.
        const char kind = a_[i].references[r].kind;
        const bool metadata = kind == '!' || kind == '#' || a_[i].is_metadata;
        change = std::max(change, metadata ? Change::metadata : Change::code);
      }
      changes_a_[i] = changes_b_[*matches_[i]] = change;
    }
    for (size_t i = 0; i < b_.size(); ++i)
      if (b_[i].is_metadata && changes_b_[i] == Change::code) changes_b_[i] = Change::metadata;
  }

  /// One row of the diff: the same line of both, or a line of one.
  struct Row {
    char mark = ' ';
    size_t a = 0, b = 0;
  };

  std::vector<Row> rows(Change least) const {
    std::vector<Row> result;
    size_t b = 0;
    const auto add_from_b = [&](size_t end, size_t a) {
      for (; b < end; ++b)
        if (changes_b_[b] >= least) result.push_back({'+', a, b});
    };
    for (size_t a = 0; a < a_.size(); ++a) {
      if (!matches_[a]) {
        if (changes_a_[a] >= least) result.push_back({'-', a, b});
        continue;
      }
      add_from_b(*matches_[a], a);
      if (changes_a_[a] >= least) {
        result.push_back({'-', a, b});
        result.push_back({'+', a, b});
      } else {
        result.push_back({' ', a, b});
      }
      ++b;
    }
    add_from_b(b_.size(), a_.size());
    return result;
  }

  /// A line of B by A's numbers; what A has not is "%b5". So lines of both that look the same are the same.
  std::string by_numbers_of_a(const Line& line, size_t at_a) const {
    std::string text;
    size_t done = 0;
    for (size_t r = 0; r < line.references.size(); ++r) {
      const auto [first, last] = line.digits[r];
      const Reference* same = renaming_.in_a(line.references[r]);
      // Values of another function have the same numbers.
      if (same != nullptr && same->kind == '%' && (at_a == a_.size() || same->function != a_[at_a].function))
        same = nullptr;
      text.append(line.text, done, first - done);
      text += same != nullptr ? std::to_string(same->number) : "b" + line.text.substr(first, last - first);
      done = last;
    }
    return text.append(line.text, done);
  }

  void print(CodeDiff& result, Change least, size_t most) const {
    constexpr size_t kAround = 3;
    const std::vector<Row> all = rows(least);
    std::vector<bool> shown(all.size(), false);
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].mark == ' ') continue;
      const size_t first = i < kAround ? 0 : i - kAround;
      for (size_t k = first; k < std::min(all.size(), i + kAround + 1); ++k) shown[k] = true;
    }
    const auto add = [&](std::string line) {
      if (result.lines.size() < most)
        result.lines.push_back(std::move(line));
      else
        ++result.left_out;
    };
    for (size_t i = 0; i < all.size(); ++i) {
      if (!shown[i]) continue;
      if (i == 0 || !shown[i - 1]) add(fmt::format("@@ {} {} @@", all[i].a + 1, all[i].b + 1));
      add(all[i].mark + (all[i].mark == '+' ? by_numbers_of_a(b_[all[i].b], all[i].a) : a_[all[i].a].text));
    }
  }

  std::vector<Line> a_, b_;
  std::vector<std::optional<size_t>> matches_;
  Renaming renaming_;
  std::vector<Change> changes_a_, changes_b_;
};

}  // namespace

CodeDiff compare_code(std::string_view a, std::string_view b, size_t most) {
  if (a == b) return {};
  return Comparison(a, b).diff(most);
}

}  // namespace smelt::cli
