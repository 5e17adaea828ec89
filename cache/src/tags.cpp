// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Versions by name: name@version points at an entry; every move is a new row, so what it pointed at stays known.
#include "smelt/cache/store.hpp"
#include "smelt/cache/tag_names.hpp"

#include "store_state.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>

namespace smelt::cache {
namespace {

std::string_view next_field(std::string_view& text) {
  const size_t dot = text.find('.');
  const std::string_view field = text.substr(0, dot);
  text = dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1);
  return field;
}

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A quote in a message: on its line, and not as long as anybody likes.
std::string in_a_line(std::string_view text) {
  constexpr size_t kMost = 80;
  std::string line(text.substr(0, kMost));
  for (char& c : line)
    if (c == '\n' || c == '\t') c = ' ';
  return text.size() > kMost ? line + "..." : line;
}

bool has_prefix(std::string_view version, std::string_view prefix) {
  return version == prefix || (version.size() > prefix.size() && version.substr(0, prefix.size()) == prefix &&
                               version[prefix.size()] == '.');
}

Result<bool> matches(std::string_view version, std::string_view wanted) {
  if (wanted.empty()) return true;
  if (wanted.find_first_of("<>=") == std::string_view::npos) return has_prefix(version, wanted);
  while (!wanted.empty()) {
    const size_t comma = wanted.find(',');
    std::string_view term = wanted.substr(0, comma);
    wanted = comma == std::string_view::npos ? std::string_view() : wanted.substr(comma + 1);
    const size_t digits = term.find_first_not_of("<>=");
    const std::string_view sign = term.substr(0, digits);
    if (digits == std::string_view::npos) return fail(Errc::invalid_argument, "version range '{}': no version", term);
    const int order = compare_versions(version, term.substr(digits));
    const bool ok = sign == ">="                  ? order >= 0
                    : sign == ">"                 ? order > 0
                    : sign == "<="                ? order <= 0
                    : sign == "<"                 ? order < 0
                    : sign == "=" || sign == "==" ? order == 0
                                                  : false;
    if (sign != ">=" && sign != ">" && sign != "<=" && sign != "<" && sign != "=" && sign != "==")
      return fail(Errc::invalid_argument, "version range '{}': want >=, >, <=, < or = before a version", term);
    if (!ok) return false;
  }
  return true;
}

}  // namespace

Result<void> check_tag(std::string_view name, std::string_view version) {
  const auto bad = [](std::string_view text) {
    return text.empty() || text.size() > 255 || text.find_first_of("@<>=,\n\t ") != std::string_view::npos ||
           text.find('\0') != std::string_view::npos;
  };
  if (bad(name) || bad(version))
    return fail(Errc::invalid_argument,
                "tag '{}@{}': want NAME@VERSION, each of 1 to 255 bytes and without @<>=, or blanks", in_a_line(name),
                in_a_line(version));
  return {};
}

int compare_versions(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    const std::string_view x = next_field(a), y = next_field(b);
    const auto m = number(x), n = number(y);
    if (m && n) {
      if (*m != *n) return *m < *n ? -1 : 1;
    } else if (x != y) {
      if (m.has_value() != n.has_value()) {
        // "2.1" is above "2.1-rc"? No field against a field: the shorter is smaller; a number is below a word.
        if (x.empty() || y.empty()) return x.empty() ? -1 : 1;
        return m ? -1 : 1;
      }
      return x < y ? -1 : 1;
    }
  }
  return 0;
}

Result<void> Store::tag(std::string_view name, std::string_view version, const Digest& key, bool move) {
  StoreState& state = *state_;
  SMELT_TRY_VOID(check_tag(name, version));
  return state.write([&]() -> Result<void> {
    SMELT_TRY(const auto place, state.tables.entry.place_of(key));
    if (!place)
      return fail(Errc::not_cached, "tag {}@{}: no entry {} in store {}", name, version, to_hex(key),
                  state.folder.string());
    SMELT_TRY(const auto now, state.tables.tag.find(name, version));
    if (now && now->key == key) return {};
    if (now && !move)
      return fail(Errc::invalid_argument, "tag {}@{} points at {}; pass --move to point it at {}", name, version,
                  to_hex(now->key), to_hex(key));
    if (now) SMELT_TRY_VOID(state.tables.tag.leave(*now));
    TagRow row;
    static_cast<TagInfo&>(row) = {std::string(name), std::string(version), key, static_cast<uint64_t>(::time(nullptr))};
    return state.tables.tag.insert(std::move(row));
  });
}

Result<std::vector<TagInfo>> Store::tags(std::string_view name) {
  StoreState& state = *state_;
  SMELT_TRY(auto tags, state.ask<std::vector<TagInfo>>([&] { return state.tables.tag.newest(name); }));
  std::sort(tags.begin(), tags.end(), [](const TagInfo& a, const TagInfo& b) {
    if (a.name != b.name) return a.name < b.name;
    const int order = compare_versions(a.version, b.version);
    return order != 0 ? order < 0 : a.version < b.version;
  });
  return tags;
}

Result<std::vector<TagInfo>> Store::tag_history(std::string_view name, std::string_view version) {
  StoreState& state = *state_;
  return state.ask<std::vector<TagInfo>>([&] { return state.tables.tag.history(name, version); });
}

Result<std::vector<TagInfo>> Store::resolve(std::string_view query) {
  const size_t at = query.find('@');
  const std::string_view name = query.substr(0, at);
  const std::string_view wanted = at == std::string_view::npos ? std::string_view() : query.substr(at + 1);
  SMELT_TRY(const auto all, tags(name));
  std::vector<TagInfo> found;
  for (const TagInfo& tag : all) {
    SMELT_TRY(const bool fits, matches(tag.version, wanted));
    if (fits) found.push_back(tag);
  }
  if (found.empty()) {
    std::string have;
    for (const TagInfo& tag : all) have += (have.empty() ? "" : ", ") + tag.name + "@" + tag.version;
    return fail(Errc::not_cached, "no tag fits '{}' in store {}; {}", query, folder().string(),
                have.empty() ? "it has none of that name" : "it has " + have);
  }
  // An exact version wins over longer ones below the same prefix.
  std::reverse(found.begin(), found.end());
  const auto exact =
      std::find_if(found.begin(), found.end(), [&](const TagInfo& tag) { return tag.version == wanted; });
  if (exact != found.end()) return std::vector<TagInfo>{*exact};
  return found;
}

}  // namespace smelt::cache
