// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt store ...: what is in the store, by key and by name.
#include "smelt/cache/store.hpp"

#include "smelt/base/files.hpp"
#include "smelt/base/text.hpp"
#include "smelt/remote/address.hpp"
#include "smelt/remote/remotes.hpp"
#include "smelt/service/session.hpp"

#include "store/page.hpp"
#include "store/rows.hpp"
#include "verbs.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <ctime>
#include <memory>

namespace smelt::cli {
namespace {

using nlohmann::ordered_json;

struct StoreOptions {
  std::string key, part, name, output, file;
  std::vector<std::string> parts;
  std::vector<std::string> names;
  std::optional<uint64_t> max_bytes;
  std::string unused_for;
  bool json = false, move = false, drop = false, tagged = false, metrics = false, reset = false;
};

std::shared_ptr<service::Session> session() {
  return service::Session::open();
}

/// The store in which something is looked for. Where there is none, none is made: it would be empty.
Result<std::shared_ptr<cache::Store>> store_with(const std::string& what) {
  const std::filesystem::path folder = service::default_store_folder();
  std::error_code error;
  if (!folder.empty() && std::filesystem::status(folder, error).type() == std::filesystem::file_type::not_found)
    return fail(Errc::not_cached, "no entry {}: there is no store {}", what, folder.string());
  return session()->store();
}

/// What a command prints on stdout, and whether it reached what it was for: if not, stderr has the reason.
struct Output {
  Output(std::string printed, bool reached = true) : text(std::move(printed)), good(reached) {}
  std::string text;
  bool good;
};
using Text = Result<Output>;

std::string json_text(const ordered_json& value) {
  return value.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

/// For those who look: no use of it.
Result<cache::Entry> entry_of(cache::Store& store, const Digest& key) {
  SMELT_TRY(auto found, store.peek(key));
  if (!found) return fail(Errc::not_cached, "no entry {} in store {}", to_hex(key), store.folder().string());
  return std::move(*found);
}

std::pair<std::string, std::string> split_tag(const std::string& text) {
  const size_t at = text.find('@');
  return {text.substr(0, at), at == std::string::npos ? std::string() : text.substr(at + 1)};
}

Text list(const StoreOptions& options) {
  SMELT_TRY(const auto store, session()->store());
  // A row at a time: a store may have a million.
  uint64_t count = 0, bytes = 0;
  const std::time_t now = std::time(nullptr);
  SMELT_TRY_VOID(each_row(*store, [&](const StoreRow& row) -> Result<void> {
    std::string text;
    if (options.json) {
      text = json_text(row_as_json(row));
      text.pop_back();
      for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 3) text.insert(at + 1, "  ");
      text = (count == 0 ? "[\n  " : ",\n  ") + text;
    } else {
      text = (count == 0 ? rows_head() : "") + row_as_line(row, now);
    }
    ++count;
    bytes += row.info.bytes;
    return print(text);
  }));
  if (options.json) return Output(count == 0 ? "[]\n" : "\n]\n");
  if (count == 0) return Output("no entries\n");
  return Output(fmt::format("{} {}, {} bytes\n", count, count == 1 ? "entry" : "entries", bytes));
}

Text show(const StoreOptions& options) {
  SMELT_TRY(const auto store, store_with(options.key));
  SMELT_TRY(const Digest key, service::find_key(*store, options.key));
  SMELT_TRY(const auto entry, entry_of(*store, key));
  SMELT_TRY(const StoreRow row, read_row(*store, key));
  ordered_json json = row_as_json(row);
  ordered_json& parts = json["parts"] = ordered_json::array();
  std::string text = row_as_text(row, std::time(nullptr)) + "parts\n";
  for (const auto& part : entry.parts()) {
    const std::string sha = to_hex(sha256(part.bytes));
    parts.push_back({{"name", part.name}, {"bytes", part.bytes.size()}, {"sha256", sha}});
    text += fmt::format("{:>10} {} {}\n", part.bytes.size(), sha, printable(part.name));
  }
  return options.json ? json_text(json) : text;
}

Text page(const StoreOptions& options) {
  SMELT_TRY(const auto store, session()->store());
  SMELT_TRY(const auto rows, read_rows(*store));
  SMELT_TRY(const auto stat, store->stat());
  const Page made = store_page(rows, stat, store->folder().string(), std::time(nullptr));
  SMELT_TRY_VOID(write_file(options.output, as_bytes(page_as_html(made))));
  return Output("");
}

Text get(const StoreOptions& options) {
  SMELT_TRY(const auto store, store_with(options.key));
  SMELT_TRY(const Digest key, service::find_key(*store, options.key));
  SMELT_TRY(const auto entry, entry_of(*store, key));
  const auto bytes = entry.part(options.part);
  if (!bytes) {
    std::string have;
    for (const auto& part : entry.parts()) have += (have.empty() ? "" : ", ") + std::string(part.name);
    return fail(Errc::not_cached, "entry {} has no part '{}'; it has {}", to_hex(key), options.part, have);
  }
  SMELT_TRY_VOID(write_file(options.output.empty() ? "-" : options.output, *bytes));
  return Output("");
}

Text put(const StoreOptions& options) {
  SMELT_TRY(const Digest key, digest_from_hex(options.key));
  std::vector<Bytes> bytes;
  std::vector<cache::PartIn> parts;
  bytes.reserve(options.parts.size());
  for (const std::string& text : options.parts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) return fail(Errc::invalid_argument, "'{}': want PART=FILE", text);
    SMELT_TRY(Bytes read, read_file(text.substr(equals + 1)));
    bytes.push_back(std::move(read));
    parts.push_back({std::string_view(text).substr(0, equals), bytes.back()});
  }
  SMELT_TRY(const auto store, session()->store());
  SMELT_TRY_VOID(store->put(key, parts, signing::Provenance::made_here()));
  return Output("");
}

Text tag(const StoreOptions& options) {
  SMELT_TRY(const auto store, store_with(options.key));
  SMELT_TRY(const Digest key, service::find_key(*store, options.key));
  const auto [name, version] = split_tag(options.name);
  SMELT_TRY_VOID(store->tag(name, version, key, options.move));
  return Output("");
}

Text tags(const StoreOptions& options) {
  SMELT_TRY(const auto store, session()->store());
  SMELT_TRY(const auto all, options.name.empty() ? store->tags() : store->resolve(options.name));
  ordered_json rows = ordered_json::array();
  std::string text;
  for (const auto& tag : all) {
    text += printable(fmt::format("{} {}@{}\n", to_hex(tag.key), tag.name, tag.version));
    rows.push_back({{"name", tag.name}, {"version", tag.version}, {"key", to_hex(tag.key)}, {"moved", tag.moved}});
  }
  return options.json ? json_text(rows) : text;
}

Text verify(const StoreOptions& options) {
  SMELT_TRY(const auto store, session()->store());
  SMELT_TRY(const auto report, store->verify(options.drop ? cache::OnDamage::drop : cache::OnDamage::report));
  std::string text;
  if (options.json)
    text = json_text({{"entries", report.entries},
                      {"blobs", report.blobs},
                      {"bytes", report.bytes},
                      {"damaged_entries", report.damaged_entries},
                      {"damaged_blobs", report.damaged_blobs},
                      {"dropped", report.dropped},
                      {"damage", report.damage}});
  else
    for (const std::string& line : report.damage) text += line + "\n";
  const bool only_entries = report.damage.size() == report.damaged_entries + report.damaged_blobs;
  if (report.damage.empty() || (options.drop && only_entries)) {
    if (options.json) return text;
    if (report.rebuilt) text += "the database was damaged; it was rebuilt from the packs\n";
    if (report.dropped != 0) text += fmt::format("{} entries dropped; they are compiled again\n", report.dropped);
    return text + fmt::format("{} entries, {} blobs, {} bytes: sound\n", report.entries - report.dropped,
                              report.blobs - report.damaged_blobs, report.bytes);
  }
  SMELT_TRY_VOID(print(text));
  if (!only_entries)
    return fail(Errc::store_corrupt,
                "store {}: its database is damaged; 'smelt store verify --drop' rebuilds it from the packs",
                store->folder().string());
  return fail(
      Errc::store_corrupt,
      "store {}: {} of {} entries and {} of {} blobs (what entries share) are damaged; finds drop them and they "
      "are compiled again, 'smelt store verify --drop' drops them now",
      store->folder().string(), report.damaged_entries, report.entries, report.damaged_blobs, report.blobs);
}

Text trim(const StoreOptions& options, const cache::TrimOptions& with) {
  SMELT_TRY(const auto store, session()->store());
  SMELT_TRY(const auto report, store->trim(with));
  if (report.busy) return fail(Errc::store_locked, "store {}: another process is trimming", store->folder().string());
  const std::string text = options.json ? json_text({{"entries_removed", report.entries_removed},
                                                     {"bytes_before", report.bytes_before},
                                                     {"bytes_after", report.bytes_after},
                                                     {"bytes_wanted", report.bytes_wanted.value_or(0)},
                                                     {"bytes_tagged", report.bytes_tagged}})
                                        : fmt::format("{} entries removed, {} bytes before, {} after\n",
                                                      report.entries_removed, report.bytes_before, report.bytes_after);
  if (!report.bytes_wanted || report.bytes_after <= *report.bytes_wanted) return text;
  Context::warn(fmt::format(
      "store {}: {} bytes stay, more than the {} asked for: tagged entries keep {} of them ('smelt store tags' names "
      "them), and a pack goes when most of it is free",
      printable(store->folder().string()), report.bytes_after, *report.bytes_wanted, report.bytes_tagged));
  return Output(text, false);
}

Text trim(const StoreOptions& options) {
  cache::TrimOptions with{options.max_bytes, {}, false};
  if (!options.unused_for.empty()) {
    auto age = remote::parse_duration(options.unused_for);
    if (!age) return tl::unexpected(std::move(age).error().in("--unused-for"));
    if (*age % std::chrono::hours(1) != std::chrono::milliseconds(0))
      return fail(Errc::invalid_argument, "--unused-for: '{}': the store knows the hour of a use; want 12h or 30d",
                  options.unused_for);
    with.unused_for = std::chrono::duration_cast<std::chrono::hours>(*age);
  }
  return trim(options, with);
}

Text clear(const StoreOptions& options) {
  return trim(options, {0, {}, options.tagged});
}

Text import(const StoreOptions& options) {
  SMELT_TRY(const Bytes package, read_file(options.file));
  SMELT_TRY(const service::Imported imported, session()->import_package(package, options.move));
  for (const service::TagMove& tag : options.move ? std::vector<service::TagMove>() : imported.moves)
    Context::warn(fmt::format("tag {}@{} points at {} and stays there; --move points it at {}", tag.name, tag.version,
                              to_hex(tag.from), to_hex(tag.to)));
  std::string text;
  for (const Digest& key : imported.keys) text += to_hex(key) + "\n";
  return text;
}

Text keys_text(Result<std::vector<Digest>> keys) {
  if (!keys) return tl::unexpected(std::move(keys).error());
  std::string text;
  for (const Digest& key : *keys) text += to_hex(key) + "\n";
  return text;
}

Text push(const StoreOptions& options) {
  SMELT_TRY_VOID(store_with(options.names.front()));
  return keys_text(session()->push(options.names));
}

Text pull(const StoreOptions& options) {
  return keys_text(session()->pull(options.names, options.move));
}

/// Of each remote that this store's processes have used, in the order in which they were first met.
ordered_json remote_rows(const cache::Store& store) {
  ordered_json rows = ordered_json::array();
  for (const auto& [name, counts] : remote::read_statistics(store.folder()))
    rows.push_back({{"remote", name},
                    {"hits", counts.hits},
                    {"misses", counts.misses},
                    {"remembered", counts.remembered},
                    {"damaged", counts.damaged},
                    {"errors", counts.errors},
                    {"resting", counts.resting},
                    {"puts", counts.puts},
                    {"dropped", counts.dropped},
                    {"bytes_read", counts.bytes_read},
                    {"bytes_written", counts.bytes_written},
                    {"round_trips", counts.round_trips},
                    {"microseconds", counts.microseconds}});
  return rows;
}

/// The figures of `smelt store stat` as the text that Prometheus reads.
std::string metrics_text(const cache::Store& store, const cache::StoreStat& stat) {
  std::string text;
  const auto metric = [&](std::string_view name, std::string_view type, std::string_view help) {
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  };
  const auto one = [&](std::string_view name, std::string_view type, std::string_view help, auto value) {
    metric(name, type, help);
    text += fmt::format("{} {}\n", name, value);
  };
  const auto seconds = [](uint64_t microseconds) { return static_cast<double>(microseconds) / 1e6; };
  const auto& counters = stat.counters;
  one("smelt_store_entries", "gauge", "Entries in the store.", stat.entries);
  one("smelt_store_tags", "gauge", "Tags, which keep their entries.", stat.tags);
  one("smelt_store_live_bytes", "gauge", "Bytes in packs that entries use.", stat.live_bytes);
  one("smelt_store_disk_bytes", "gauge", "Bytes of the folder.", stat.disk_bytes);
  one("smelt_store_max_bytes", "gauge", "The budget; 0 is none.", stat.max_bytes);
  one("smelt_store_hits_total", "counter", "Finds that gave an entry.", counters.hits);
  one("smelt_store_misses_total", "counter", "Finds that gave none.", counters.misses);
  one("smelt_store_puts_total", "counter", "Entries that were kept.", counters.puts);
  one("smelt_store_damaged_total", "counter", "Entries that were damaged, and misses.", counters.damaged);
  one("smelt_store_evicted_total", "counter", "Entries that a trim removed.", counters.evicted);
  one("smelt_store_read_bytes_total", "counter", "Bytes that finds gave.", counters.bytes_read);
  one("smelt_store_written_bytes_total", "counter", "Bytes that puts wrote.", counters.bytes_written);
  one("smelt_store_saved_seconds_total", "counter", "Compile time that hits saved.",
      seconds(counters.microseconds_saved));
  const auto remotes = remote::read_statistics(store.folder());
  const auto each = [&](std::string_view name, std::string_view help, auto value_of) {
    if (remotes.empty()) return;
    metric(name, "counter", help);
    for (const auto& [url, counts] : remotes) {
      // Quotes and backslashes have a backslash in both.
      text += fmt::format("{}{{remote={}}} {}\n", name, json_quoted(printable(url)), value_of(counts));
    }
  };
  using Counts = remote::Statistics;
  each("smelt_remote_hits_total", "Entries that a remote had.", [](const Counts& from) { return from.hits; });
  each("smelt_remote_misses_total", "Entries that a remote did not have.",
       [](const Counts& from) { return from.misses; });
  each("smelt_remote_damaged_total", "Entries of a remote that were not used.",
       [](const Counts& from) { return from.damaged; });
  each("smelt_remote_errors_total", "Calls of a remote that failed.", [](const Counts& from) { return from.errors; });
  each("smelt_remote_puts_total", "Entries that were sent.", [](const Counts& from) { return from.puts; });
  each("smelt_remote_dropped_total", "Entries that were not sent.", [](const Counts& from) { return from.dropped; });
  each("smelt_remote_read_bytes_total", "Bytes from a remote.", [](const Counts& from) { return from.bytes_read; });
  each("smelt_remote_written_bytes_total", "Bytes to a remote.", [](const Counts& from) { return from.bytes_written; });
  each("smelt_remote_waited_seconds_total", "Time that was spent waiting for a remote.",
       [&](const Counts& from) { return seconds(from.microseconds); });
  return text;
}

Text stat_text(const cache::Store& store, const cache::StoreStat& stat, const StoreOptions& options) {
  const auto& counters = stat.counters;
  if (options.metrics) return metrics_text(store, stat);
  if (options.json)
    return json_text({{"folder", store.folder().string()},
                      {"schema", stat.schema_version},
                      {"entries", stat.entries},
                      {"blobs", stat.blobs},
                      {"tags", stat.tags},
                      {"packs", stat.packs},
                      {"raw_bytes", stat.raw_bytes},
                      {"live_bytes", stat.live_bytes},
                      {"pack_bytes", stat.pack_bytes},
                      {"disk_bytes", stat.disk_bytes},
                      {"max_bytes", stat.max_bytes},
                      {"hits", counters.hits},
                      {"misses", counters.misses},
                      {"puts", counters.puts},
                      {"damaged", counters.damaged},
                      {"evicted", counters.evicted},
                      {"bytes_read", counters.bytes_read},
                      {"bytes_written", counters.bytes_written},
                      {"microseconds_saved", counters.microseconds_saved},
                      {"remotes", remote_rows(store)}});
  std::string text = fmt::format(
      "folder     {}\nschema     {}\nentries    {} ({} blobs, {} tags)\nbytes      {} as entries, {} kept, {} on "
      "disk\nbudget     {} bytes\nfinds      {} hits, {} misses, {} damaged, {} evicted\nsaved      {:.3f} s of "
      "compiling\n",
      printable(store.folder().string()), stat.schema_version, stat.entries, stat.blobs, stat.tags, stat.raw_bytes,
      stat.live_bytes, stat.disk_bytes, stat.max_bytes, counters.hits, counters.misses, counters.damaged,
      counters.evicted, static_cast<double>(counters.microseconds_saved) / 1e6);
  for (const auto& [name, counts] : remote::read_statistics(store.folder()))
    text += fmt::format(
        "remote     {}\n           {} hits, {} misses, {} damaged; {} calls failed, {} entries while resting\n"
        "           {} put, {} dropped; {} bytes read, {} written; {} round trips, {:.3f} s waited\n",
        printable(name), counts.hits, counts.misses, counts.damaged, counts.errors, counts.resting, counts.puts,
        counts.dropped, counts.bytes_read, counts.bytes_written, counts.round_trips,
        static_cast<double>(counts.microseconds) / 1e6);
  return text;
}

Text stat(const StoreOptions& options) {
  SMELT_TRY(const auto store, session()->store());
  SMELT_TRY(const auto stat, store->stat());
  auto text = stat_text(*store, stat, options);
  if (options.reset) {
    SMELT_TRY_VOID(store->reset_counters());
    remote::reset_statistics(store->folder());
  }
  return text;
}

}  // namespace

void add_store(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("store", "Show and maintain the store of compiled kernels");
  verb->require_subcommand(1);
  auto options = std::make_shared<StoreOptions>();
  const auto command = [&](const char* name, const char* help, Text (*run)(const StoreOptions&)) {
    CLI::App* sub = verb->add_subcommand(name, help);
    sub->callback([options, run, &context] {
      const auto text = run(*options);
      if (!text) return context.finish(Result<void>(tl::unexpected(text.error())));
      const auto printed = print(text->text);
      context.finish(printed ? Result<bool>(text->good) : tl::unexpected(printed.error()));
    });
    return sub;
  };
  const auto json = [&](CLI::App* sub) { sub->add_flag("--json", options->json, "Print JSON for programs"); };
  command("path", "Print where the store is", [](const StoreOptions&) -> Text {
    const std::filesystem::path folder = service::default_store_folder();
    if (!folder.empty()) return folder.string() + "\n";
    SMELT_TRY(const auto none, session()->store());  // says why
    return none->folder().string() + "\n";
  });
  json(command("list", "List all entries, most recently used first", list));
  const auto key = [&](CLI::App* sub) {
    sub->add_option("KEY", options->key, "Key of the entry, or its first 8 digits or more, or NAME@VERSION")
        ->required();
  };
  CLI::App* sub = command("show", "Describe an entry and list its parts", show);
  key(sub);
  json(sub);
  sub = command("page", "Write a page with all entries, which can be searched", page);
  sub->add_option("-o,--output", options->output, "Page (HTML) to write")->required();
  sub = command("get", "Write out a part's bytes", get);
  key(sub);
  sub->add_option("PART", options->part, "Name of the part")->required();
  sub->add_option("-o,--output", options->output, "File to write (default: stdout)");
  sub = command("put", "Publish an entry", put);
  sub->add_option("KEY", options->key, "Key of the entry, 64 hexadecimal digits")->required();
  sub->add_option("PARTS", options->parts, "PART=FILE each: name of a part, and the file that holds its bytes")
      ->required();
  sub = command("tag", "Give an entry a tag, NAME@VERSION", tag);
  sub->add_option("NAME@VERSION", options->name, "The tag")->required();
  key(sub);
  sub->add_flag("--move", options->move, "Move the tag if it exists already");
  sub = command("tags", "List all tags, or those that match a query (name@2, name@>=2,<3)", tags);
  sub->add_option("QUERY", options->name, "Name, name@version, name@prefix or name@range");
  json(sub);
  sub = command("verify", "Read and hash every entry", verify);
  sub->add_flag("--drop", options->drop, "Drop damaged entries");
  json(sub);
  sub = command("trim", "Remove the least useful entries, down to a budget", trim);
  take_size(sub->add_option("--max-bytes", options->max_bytes,
                            "Bytes that may stay, e.g. 2GiB; 0 empties the store (default: the store's budget)"));
  sub->add_option("--unused-for", options->unused_for,
                  "Remove entries that nobody has used for this time, e.g. 12h or 30d");
  json(sub);
  sub = command("clear", "Remove all entries without a tag", clear);
  sub->add_flag("--tagged", options->tagged, "Remove tagged entries and all tags, too");
  json(sub);
  sub = command("stat", "Print sizes and counters", stat);
  json(sub);
  sub->add_flag("--metrics", options->metrics, "Print text that Prometheus reads");
  sub->add_flag("--reset", options->reset, "Set the counters to zero after printing them");
  sub = command("export", "Write entries, by key or name, as one package", [](const StoreOptions& with) -> Text {
    SMELT_TRY_VOID(store_with(with.names.front()));
    SMELT_TRY(const Bytes package, session()->export_package(with.names));
    SMELT_TRY_VOID(write_file(with.output, package));
    return Output("");
  });
  sub->add_option("NAMES", options->names, "Keys or name@version")->required();
  sub->add_option("-o,--output", options->output, "Package to write, OUT.smelt")->required();
  sub = command("import", "Put a package's libraries into the store; prints their keys", import);
  sub->add_option("FILE", options->file, "Package to read, IN.smelt")->required();
  sub->add_flag("--move", options->move, "Move tags of the package's versions that exist already");
  sub = command("push", "Send entries to the remotes now; prints their keys", push);
  sub->add_option("NAMES", options->names, "Keys (or their first digits) or name@version; their tags are sent too")
      ->required();
  sub = command("pull", "Fetch entries from the remotes; prints their keys", pull);
  sub->add_option("NAMES", options->names, "Keys or name@version")->required();
  sub->add_flag("--move", options->move, "Move tags that exist already");
}

}  // namespace smelt::cli
