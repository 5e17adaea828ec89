// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "store/rows.hpp"

#include "smelt/base/text.hpp"

#include <algorithm>
#include <map>

namespace smelt::cli {
namespace {

constexpr size_t kDigits = 12;  // of a key in a table: `show` and the others take them for the whole

/// What an entry holds is somebody else's text: of one line, and nothing that steers a terminal.
std::string plain(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::replace(line.begin(), line.end(), '\t', ' ');
  return printable(line);
}

uint64_t seconds_since(uint64_t then, std::time_t now) {
  const auto at = static_cast<uint64_t>(std::max<std::time_t>(now, 0));
  return at > then ? at - then : 0;
}

/// "5 min ago", "3 days ago".
std::string age_as_text(uint64_t seconds) {
  if (seconds < 60) return "just now";
  if (seconds < 3600) return fmt::format("{} min ago", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{} h ago", seconds / 3600);
  return fmt::format("{} days ago", seconds / (24 * 3600));
}

/// The store knows the hour alone.
std::string used_as_text(uint64_t hour, std::time_t now) {
  const uint64_t hours = seconds_since(hour * 3600, now) / 3600;
  return hours == 0 ? "this hour" : age_as_text(hours * 3600);
}

std::string some_of(const std::vector<std::string>& names, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), most); ++i) text += (i == 0 ? "" : ", ") + plain(names[i]);
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

/// Its lines without the last one's end.
std::string origin_of(const service::EntryFacts& facts) {
  std::string origin = facts.origin;
  while (!origin.empty() && origin.back() == '\n') origin.pop_back();
  return origin;
}

std::vector<std::string> targets_of(const service::EntryFacts& facts) {
  std::vector<std::string> targets;
  for (const auto& slice : facts.slices)
    if (std::find(targets.begin(), targets.end(), slice.target) == targets.end()) targets.push_back(slice.target);
  return targets;
}

/// "saxpy, softmax; for macos14, cpu-x86-64-v3; from saxpy.metal; tagged saxpy@1.0".
std::string what(const StoreRow& row) {
  if (!row.damage.empty()) return "damaged";
  std::vector<std::string> facts;
  const service::EntryFacts& of = row.facts;
  if (!of.functions.empty()) facts.push_back(some_of(of.functions, 3));
  if (!of.slices.empty()) facts.push_back("for " + some_of(targets_of(of), 4));
  if (!of.source.empty()) facts.push_back("from " + plain(of.source));
  if (!row.tags.empty()) facts.push_back("tagged " + some_of(row.tags, 3));
  return fmt::format("{}", fmt::join(facts, "; "));
}

using Tags = std::map<Digest, std::vector<std::string>>;

Result<Tags> read_tags(cache::Store& store) {
  SMELT_TRY(const auto all, store.tags());
  Tags tags;
  for (const cache::TagInfo& tag : all) tags[tag.key].push_back(tag.name + "@" + tag.version);
  return tags;
}

Result<StoreRow> read_row(cache::Store& store, const cache::EntryInfo& info, const Tags& tags) {
  StoreRow row;
  row.info = info;
  if (const auto found = tags.find(info.key); found != tags.end()) row.tags = found->second;
  auto entry = store.peek(info.key);
  if (!entry && entry.error().code != Errc::store_corrupt) return tl::unexpected(std::move(entry).error());
  if (!entry)
    row.damage = entry.error().message;
  else if (*entry)
    row.facts = service::entry_facts(**entry);
  return row;
}

}  // namespace

Result<void> each_row(cache::Store& store, const std::function<Result<void>(const StoreRow&)>& body) {
  SMELT_TRY(auto infos, store.list());
  SMELT_TRY(const Tags tags, read_tags(store));
  std::sort(infos.begin(), infos.end(), [](const cache::EntryInfo& a, const cache::EntryInfo& b) {
    return std::tuple(b.used_hour, b.created, a.key) < std::tuple(a.used_hour, a.created, b.key);
  });
  for (const cache::EntryInfo& info : infos) {
    SMELT_TRY(const StoreRow row, read_row(store, info, tags));
    SMELT_TRY_VOID(body(row));
  }
  return {};
}

Result<std::vector<StoreRow>> read_rows(cache::Store& store) {
  std::vector<StoreRow> rows;
  SMELT_TRY_VOID(each_row(store, [&](const StoreRow& row) -> Result<void> {
    rows.push_back(row);
    return {};
  }));
  return rows;
}

Result<StoreRow> read_row(cache::Store& store, const Digest& key) {
  SMELT_TRY(const auto infos, store.list());
  const auto info =
      std::find_if(infos.begin(), infos.end(), [&](const cache::EntryInfo& one) { return one.key == key; });
  if (info == infos.end())
    return fail(Errc::not_cached, "no entry {} in store {}", to_hex(key), store.folder().string());
  SMELT_TRY(const Tags tags, read_tags(store));
  SMELT_TRY(StoreRow row, read_row(store, *info, tags));
  if (!row.damage.empty()) return fail(Errc::store_corrupt, "{}", row.damage);
  return row;
}

Json row_as_json(const StoreRow& row) {
  const service::EntryFacts& facts = row.facts;
  Json slices = Json::array();
  for (const auto& slice : facts.slices) slices.push_back({{"target", slice.target}, {"bytes", slice.bytes}});
  Json json = {{"key", to_hex(row.info.key)},
               {"bytes", row.info.bytes},
               {"created", row.info.created},
               {"used", row.info.used_hour * 3600},
               {"used_hour", row.info.used_hour},
               {"cost_us", row.info.cost_us},
               {"hits", row.info.hits},
               {"kind", to_string(facts.kind)},
               {"name", facts.name},
               {"version", facts.version},
               {"source", facts.source},
               {"source_sha256", facts.source_digest},
               {"compiler", facts.compiler},
               {"origin", origin_of(facts)},
               {"functions", facts.functions},
               {"slices", slices},
               {"tags", row.tags}};
  if (!row.damage.empty()) json["damage"] = row.damage;
  return json;
}

std::string rows_head() {
  return fmt::format("{:<{}}  {:<7}  {:>10}  {:>11}  {:>11}  {:>6}  {}\n", "KEY", kDigits, "KIND", "BYTES", "MADE",
                     "USED", "HITS", "WHAT");
}

std::string row_as_line(const StoreRow& row, std::time_t now) {
  return fmt::format("{}  {:<7}  {:>10}  {:>11}  {:>11}  {:>6}  {}\n", to_hex(row.info.key).substr(0, kDigits),
                     to_string(row.facts.kind), row.info.bytes, age_as_text(seconds_since(row.info.created, now)),
                     used_as_text(row.info.used_hour, now), row.info.hits, what(row));
}

std::string row_as_text(const StoreRow& row, std::time_t now) {
  const service::EntryFacts& facts = row.facts;
  std::string text;
  const auto line = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) text += fmt::format("{:<10} {}\n", name, value);
  };
  std::string origin = origin_of(facts);
  for (size_t at = 0; (at = origin.find('\n', at)) != std::string::npos;) origin.replace(at, 1, "; ");
  std::string slices;
  for (const auto& slice : facts.slices)
    slices += fmt::format("{}{} ({} bytes)", slices.empty() ? "" : ", ", plain(slice.target), slice.bytes);
  line("key", to_hex(row.info.key));
  line("kind", to_string(facts.kind));
  line("name", plain(facts.version.empty() ? facts.name : facts.name + " " + facts.version));
  line("tags", some_of(row.tags, row.tags.size()));
  line("kernels", some_of(facts.functions, facts.functions.size()));
  line("targets", slices);
  line("source", plain(facts.source));
  line("", facts.source_digest.empty() ? "" : "SHA-256 " + facts.source_digest);
  line("compiler", plain(facts.compiler));
  line("origin", plain(origin));
  line("made", fmt::format("{}, in {:.1f} ms", age_as_text(seconds_since(row.info.created, now)),
                           static_cast<double>(row.info.cost_us) / 1e3));
  line("used", fmt::format("{}, {} {}", used_as_text(row.info.used_hour, now), row.info.hits,
                           row.info.hits == 1 ? "hit" : "hits"));
  line("bytes", std::to_string(row.info.bytes));
  return text;
}

}  // namespace smelt::cli
