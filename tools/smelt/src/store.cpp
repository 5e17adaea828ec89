// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt store ...: what is in the store, by key and by name.
#include "smelt/cache/store.hpp"

#include "smelt/base/files.hpp"
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
  uint64_t max_bytes = 0;
  bool json = false, move = false, drop = false;
};

std::shared_ptr<service::Session> session() {
  return service::Session::open();
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
  SMELT_TRY(const auto rows, read_rows(*store));
  if (!options.json) return rows_as_text(rows, std::time(nullptr));
  ordered_json json = ordered_json::array();
  for (const StoreRow& row : rows) json.push_back(row_as_json(row));
  return json_text(json);
}

Text show(const StoreOptions& options) {
  SMELT_TRY(const auto store, session()->store());
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
  SMELT_TRY(const auto store, session()->store());
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
  SMELT_TRY(const auto store, session()->store());
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
  SMELT_TRY_VOID(store->put(key, parts, signing::Provenance::made_here()));
  return Output("");
}

Text tag(const StoreOptions& options) {
  SMELT_TRY(const auto store, session()->store());
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
    if (report.dropped != 0) text += fmt::format("{} entries dropped; they are compiled again\n", report.dropped);
    return text + fmt::format("{} entries, {} blobs, {} bytes: sound\n", report.entries - report.dropped,
                              report.blobs - report.damaged_blobs, report.bytes);
  }
  SMELT_TRY_VOID(print(text));
  if (!only_entries)
    return fail(Errc::store_corrupt, "store {}: its database is damaged; delete the folder while nothing uses it",
                store->folder().string());
  return fail(
      Errc::store_corrupt,
      "store {}: {} of {} entries and {} of {} blobs (what entries share) are damaged; finds drop them and they "
      "are compiled again, 'smelt store verify --drop' drops them now",
      store->folder().string(), report.damaged_entries, report.entries, report.damaged_blobs, report.blobs);
}

Text trim(const StoreOptions& options) {
  SMELT_TRY(const auto store, session()->store());
  SMELT_TRY(const auto report, store->trim(options.max_bytes));
  if (report.busy) return fail(Errc::store_locked, "store {}: another process is trimming", store->folder().string());
  const std::string text = options.json ? json_text({{"entries_removed", report.entries_removed},
                                                     {"bytes_before", report.bytes_before},
                                                     {"bytes_after", report.bytes_after},
                                                     {"bytes_wanted", report.bytes_wanted},
                                                     {"bytes_tagged", report.bytes_tagged}})
                                        : fmt::format("{} entries removed, {} bytes before, {} after\n",
                                                      report.entries_removed, report.bytes_before, report.bytes_after);
  if (report.bytes_wanted == 0 || report.bytes_after <= report.bytes_wanted) return text;
  Context::warn(fmt::format(
      "store {}: {} bytes stay, more than the {} asked for: tagged entries keep {} of them ('smelt store tags' names "
      "them), and a pack goes when most of it is free",
      printable(store->folder().string()), report.bytes_after, report.bytes_wanted, report.bytes_tagged));
  return Output(text, false);
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

Text stat(const StoreOptions& options) {
  SMELT_TRY(const auto store, session()->store());
  SMELT_TRY(const auto stat, store->stat());
  const auto& counters = stat.counters;
  if (options.json)
    return json_text({{"folder", store->folder().string()},
                      {"schema", stat.schema_version},
                      {"entries", stat.entries},
                      {"blobs", stat.blobs},
                      {"tags", stat.tags},
                      {"packs", stat.packs},
                      {"raw_bytes", stat.raw_bytes},
                      {"live_bytes", stat.live_bytes},
                      {"pack_bytes", stat.pack_bytes},
                      {"disk_bytes", stat.disk_bytes},
                      {"hits", counters.hits},
                      {"misses", counters.misses},
                      {"puts", counters.puts},
                      {"damaged", counters.damaged},
                      {"evicted", counters.evicted},
                      {"bytes_read", counters.bytes_read},
                      {"bytes_written", counters.bytes_written},
                      {"microseconds_saved", counters.microseconds_saved},
                      {"remotes", remote_rows(*store)}});
  std::string text = fmt::format(
      "folder     {}\nschema     {}\nentries    {} ({} blobs, {} tags)\nbytes      {} as entries, {} kept, {} on "
      "disk\nfinds      {} hits, {} misses, {} damaged, {} evicted\nsaved      {:.3f} s of compiling\n",
      printable(store->folder().string()), stat.schema_version, stat.entries, stat.blobs, stat.tags, stat.raw_bytes,
      stat.live_bytes, stat.disk_bytes, counters.hits, counters.misses, counters.damaged, counters.evicted,
      static_cast<double>(counters.microseconds_saved) / 1e6);
  for (const auto& [name, counts] : remote::read_statistics(store->folder()))
    text += fmt::format(
        "remote     {}\n           {} hits, {} misses, {} damaged; {} calls failed, {} entries while resting\n"
        "           {} put, {} dropped; {} bytes read, {} written; {} round trips, {:.3f} s waited\n",
        printable(name), counts.hits, counts.misses, counts.damaged, counts.errors, counts.resting, counts.puts,
        counts.dropped, counts.bytes_read, counts.bytes_written, counts.round_trips,
        static_cast<double>(counts.microseconds) / 1e6);
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
  command("path", "Print where the store is",
          [](const StoreOptions&) -> Text { return service::default_store_folder().string() + "\n"; });
  json(command("list", "List all entries, most recently used first", list));
  const auto key = [&](CLI::App* sub) {
    sub->add_option("KEY", options->key, "Key of the entry, or its first 8 digits or more, or NAME@VERSION")
        ->required();
  };
  CLI::App* sub = command("show", "Say what an entry is, and list its parts", show);
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
  sub = command("tag", "Point NAME@VERSION at an entry", tag);
  sub->add_option("NAME@VERSION", options->name, "The tag")->required();
  key(sub);
  sub->add_flag("--move", options->move, "Move the tag when it points elsewhere now");
  sub = command("tags", "List all tags, or those that match a query (name@2, name@>=2,<3)", tags);
  sub->add_option("QUERY", options->name, "Name, name@version, name@prefix or name@range");
  json(sub);
  sub = command("verify", "Read and hash everything", verify);
  sub->add_flag("--drop", options->drop, "Drop the entries that are damaged");
  json(sub);
  sub = command("trim", "Remove the least useful entries, down to a budget", trim);
  sub->add_option("--max-bytes", options->max_bytes, "Bytes that may stay (default: the store's budget)")
      ->check(CLI::NonNegativeNumber);
  json(sub);
  json(command("stat", "Print sizes and counters", stat));
  sub = command("export", "Write entries, by key or name, as one package", [](const StoreOptions& with) -> Text {
    SMELT_TRY(const Bytes package, session()->export_package(with.names));
    SMELT_TRY_VOID(write_file(with.output, package));
    return Output("");
  });
  sub->add_option("NAMES", options->names, "Keys or name@version")->required();
  sub->add_option("-o,--output", options->output, "Package to write, OUT.smelt")->required();
  sub = command("import", "Put a package's libraries into the store; prints their keys", import);
  sub->add_option("FILE", options->file, "Package to read, IN.smelt")->required();
  sub->add_flag("--move", options->move, "Move tags of the package's versions that point elsewhere now");
  sub = command("push", "Send entries to the remotes now; prints their keys", push);
  sub->add_option("NAMES", options->names, "Keys (or their first digits) or name@version, whose tags go with them")
      ->required();
  sub = command("pull", "Fetch entries from the remotes; prints their keys", pull);
  sub->add_option("NAMES", options->names, "Keys or name@version")->required();
  sub->add_flag("--move", options->move, "Move tags that point elsewhere now");
}

}  // namespace smelt::cli
