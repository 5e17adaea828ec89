// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/near_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace smelt {
namespace {

/// Edit distance with swaps of neighbours, case ignored; gives up (returns limit + 1) as soon as it must exceed limit.
size_t distance(std::string_view a, std::string_view b, size_t limit) {
  const size_t apart = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (apart > limit) return limit + 1;
  const auto same = [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  };
  std::vector<size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    size_t least = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1)});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        next[j] = std::min(next[j], before[j - 2] + 1);
      least = std::min(least, next[j]);
    }
    if (least > limit) return limit + 1;
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

/// The first identifier of an Itanium-mangled name: "_Z5saxpyPf" -> "saxpy", "_ZN2ns5saxpyE..." -> the last of its
/// path.
std::string_view base_of_mangled(std::string_view name) {
  if (!name.starts_with("_Z")) return {};
  size_t at = 2;
  const bool nested = at < name.size() && name[at] == 'N';
  if (nested) ++at;
  std::string_view base;
  while (at < name.size() && std::isdigit(static_cast<unsigned char>(name[at]))) {
    size_t length = 0;
    while (at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])) && length < name.size())
      length = 10 * length + size_t(name[at++] - '0');
    if (length > name.size() - at) return {};
    base = name.substr(at, length);
    at += length;
    if (!nested) break;
  }
  return base;
}

}  // namespace

std::vector<std::string_view> near_names(std::string_view asked, std::span<const std::string_view> known) {
  struct Candidate {
    size_t score;
    std::string_view name;
  };
  std::vector<Candidate> candidates;
  if (asked.empty() || asked.size() > 256) return {};
  const size_t limit = std::max<size_t>(2, asked.size() / 4);
  for (const std::string_view name : known) {
    size_t score = distance(asked, name, limit);
    if (score > limit && asked.size() >= 4 && name.find(asked) != name.npos) score = limit;
    if (score > limit && name.size() >= 4 && asked.find(name) != asked.npos) score = limit;
    if (score <= limit) candidates.push_back({score, name});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score < b.score : a.name < b.name;
  });
  std::vector<std::string_view> names;
  for (size_t i = 0; i < std::min<size_t>(5, candidates.size()); ++i) names.push_back(candidates[i].name);
  return names;
}

std::string_view other_spelling(std::string_view asked, std::span<const std::string_view> known) {
  const std::string_view base = base_of_mangled(asked);
  for (const std::string_view name : known) {
    if (!base.empty() && name == base) return name;
    if (base_of_mangled(name) == asked && !asked.empty()) return name;
  }
  return {};
}

tl::unexpected<Error> no_function(std::string_view asked, std::span<const std::string_view> known) {
  std::string hint;
  if (const std::string_view other = other_spelling(asked, known); !other.empty())
    hint = fmt::format(". It has this function as '{}'", other);
  std::string near;
  for (const std::string_view candidate : near_names(asked, known))
    near += fmt::format("{}'{}'", near.empty() ? "" : ", ", candidate);
  if (!near.empty()) hint += fmt::format(". Similar names: {}", near);
  constexpr size_t kFew = 8;
  std::string has = fmt::format("{} functions", known.size());
  if (known.size() <= kFew) {
    has = known.empty() ? "none" : "";
    for (const std::string_view name : known) has += fmt::format("{}'{}'", has.empty() ? "" : ", ", name);
  }
  auto error = fail(Errc::function_not_found, "the library has no function '{}'; it has {}{}", asked, has, hint);
  error.value().subject = asked;
  return error;
}

}  // namespace smelt
