// smelt store ...: what is in the store, by key and by name.
#include "smelt/cache/store.hpp"

#include "smelt/base/files.hpp"
#include "smelt/service/session.hpp"

#include "verbs.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>

namespace smelt::cli {
namespace {

using nlohmann::ordered_json;

struct Options {
  std::string key, part, name, output, file;
  std::vector<std::string> parts;
  std::vector<std::string> names;
  uint64_t max_bytes = 0;
  bool json = false, move = false;
};

std::shared_ptr<service::Session> session() {
  return service::Session::open();
}

void print(const ordered_json& value) {
  const std::string text = value.dump(2) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

Result<cache::Entry> entry_of(cache::Store& store, const std::string& key, const Digest& digest) {
  SMELT_TRY(auto found, store.find(digest));
  if (!found) return fail(Errc::not_cached, "no entry {} in store {}", key, store.folder().string());
  return std::move(*found);
}

std::pair<std::string, std::string> split_tag(const std::string& text) {
  const size_t at = text.find('@');
  return {text.substr(0, at), at == std::string::npos ? std::string() : text.substr(at + 1)};
}

Result<void> list(const Options& options) {
  SMELT_TRY(const auto store, session()->store());
  SMELT_TRY(const auto entries, store->list());
  if (options.json) {
    ordered_json rows = ordered_json::array();
    for (const auto& entry : entries)
      rows.push_back({{"key", to_hex(entry.key)},
                      {"bytes", entry.bytes},
                      {"created", entry.created},
                      {"used_hour", entry.used_hour},
                      {"cost_us", entry.cost_us}});
    print(rows);
    return {};
  }
  for (const auto& entry : entries) fmt::print("{} {:>10} bytes\n", to_hex(entry.key), entry.bytes);
  return {};
}

Result<void> show(const Options& options) {
  SMELT_TRY(const auto store, session()->store());
  SMELT_TRY(const Digest key, digest_from_hex(options.key));
  SMELT_TRY(const auto entry, entry_of(*store, options.key, key));
  ordered_json rows = ordered_json::array();
  for (const auto& part : entry.parts())
    rows.push_back({{"name", part.name}, {"bytes", part.bytes.size()}, {"sha256", to_hex(sha256(part.bytes))}});
  if (options.json) {
    print({{"key", options.key}, {"parts", rows}});
    return {};
  }
  for (const auto& part : entry.parts())
    fmt::print("{:>10} {} {}\n", part.bytes.size(), to_hex(sha256(part.bytes)), part.name);
  return {};
}

Result<void> get(const Options& options) {
  SMELT_TRY(const auto store, session()->store());
  SMELT_TRY(const Digest key, digest_from_hex(options.key));
  SMELT_TRY(const auto entry, entry_of(*store, options.key, key));
  const auto bytes = entry.part(options.part);
  if (!bytes) {
    std::string have;
    for (const auto& part : entry.parts()) have += (have.empty() ? "" : ", ") + std::string(part.name);
    return fail(Errc::not_cached, "entry {} has no part '{}'; it has {}", options.key, options.part, have);
  }
  return write_file(options.output.empty() ? "-" : options.output, *bytes);
}

Result<void> put(const Options& options) {
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
  return store->put(key, parts);
}

Result<void> tag(const Options& options) {
  SMELT_TRY(const auto store, session()->store());
  SMELT_TRY(const Digest key, digest_from_hex(options.key));
  const auto [name, version] = split_tag(options.name);
  return store->tag(name, version, key, options.move);
}

Result<void> tags(const Options& options) {
  SMELT_TRY(const auto store, session()->store());
  SMELT_TRY(const auto all, options.name.empty() ? store->tags() : store->resolve(options.name));
  ordered_json rows = ordered_json::array();
  for (const auto& tag : all) {
    if (!options.json) fmt::print("{} {}@{}\n", to_hex(tag.key), tag.name, tag.version);
    rows.push_back({{"name", tag.name}, {"version", tag.version}, {"key", to_hex(tag.key)}, {"moved", tag.moved}});
  }
  if (options.json) print(rows);
  return {};
}

Result<void> verify(const Options& options) {
  SMELT_TRY(const auto store, session()->store());
  SMELT_TRY(const auto report, store->verify());
  if (options.json)
    print({{"entries", report.entries}, {"blobs", report.blobs}, {"bytes", report.bytes}, {"damage", report.damage}});
  else
    for (const std::string& line : report.damage) fmt::print("{}\n", line);
  if (!report.damage.empty())
    return fail(Errc::store_corrupt,
                "store {}: {} of {} entries and blobs are damaged; finds drop them and they are compiled "
                "again",
                store->folder().string(), report.damage.size(), report.entries + report.blobs);
  if (!options.json) fmt::print("{} entries, {} blobs, {} bytes: sound\n", report.entries, report.blobs, report.bytes);
  return {};
}

Result<void> trim(const Options& options) {
  SMELT_TRY(const auto store, session()->store());
  SMELT_TRY(const auto report, store->trim(options.max_bytes));
  if (report.busy) return fail(Errc::store_locked, "store {}: another process is trimming", store->folder().string());
  if (options.json)
    print({{"entries_removed", report.entries_removed},
           {"bytes_before", report.bytes_before},
           {"bytes_after", report.bytes_after}});
  else
    fmt::print("{} entries removed, {} bytes before, {} after\n", report.entries_removed, report.bytes_before,
               report.bytes_after);
  return {};
}

Result<void> stat(const Options& options) {
  SMELT_TRY(const auto store, session()->store());
  SMELT_TRY(const auto stat, store->stat());
  const auto& counters = stat.counters;
  if (options.json) {
    print({{"folder", store->folder().string()},
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
           {"microseconds_saved", counters.microseconds_saved}});
    return {};
  }
  fmt::print(
      "folder     {}\nschema     {}\nentries    {} ({} blobs, {} tags)\nbytes      {} as entries, {} kept, {} on "
      "disk\n",
      store->folder().string(), stat.schema_version, stat.entries, stat.blobs, stat.tags, stat.raw_bytes,
      stat.live_bytes, stat.disk_bytes);
  fmt::print("finds      {} hits, {} misses, {} damaged, {} evicted\nsaved      {:.3f} s of compiling\n", counters.hits,
             counters.misses, counters.damaged, counters.evicted,
             static_cast<double>(counters.microseconds_saved) / 1e6);
  return {};
}

}  // namespace

void add_store(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("store", "The store of compiled kernels");
  verb->require_subcommand(1);
  auto options = std::make_shared<Options>();
  const auto command = [&](const char* name, const char* help, Result<void> (*run)(const Options&)) {
    CLI::App* sub = verb->add_subcommand(name, help);
    sub->callback([options, run, &context] {
      auto result = run(*options);
      if (!result && result.error().code == Errc::invalid_argument)
        return context.asked_wrongly(result.error().message);
      context.finish(result);
    });
    return sub;
  };
  const auto json = [&](CLI::App* sub) { sub->add_flag("--json", options->json, "As JSON"); };
  command("path", "Where the store is", [](const Options&) -> Result<void> {
    fmt::print("{}\n", service::default_store_folder().string());
    return {};
  });
  json(command("list", "All entries", list));
  CLI::App* sub = command("show", "An entry's parts", show);
  sub->add_option("KEY", options->key)->required();
  json(sub);
  sub = command("get", "A part's bytes", get);
  sub->add_option("KEY", options->key)->required();
  sub->add_option("PART", options->part)->required();
  sub->add_option("-o,--output", options->output, "Default: stdout");
  sub = command("put", "Publish an entry", put);
  sub->add_option("KEY", options->key, "64 hexadecimal digits")->required();
  sub->add_option("PART=FILE", options->parts)->required();
  sub = command("tag", "Point NAME@VERSION at an entry", tag);
  sub->add_option("NAME@VERSION", options->name)->required();
  sub->add_option("KEY", options->key)->required();
  sub->add_flag("--move", options->move, "Also when it points elsewhere now");
  sub = command("tags", "Tags, or what a query stands for (name@2, name@>=2,<3)", tags);
  sub->add_option("QUERY", options->name);
  json(sub);
  json(command("verify", "Read and hash everything", verify));
  sub = command("trim", "Evict the least worth down to the budget", trim);
  sub->add_option("--max-bytes", options->max_bytes, "Default: the store's budget");
  json(sub);
  json(command("stat", "Sizes and counters", stat));
  sub = command("export", "Entries by key or name as one package", [](const Options& with) -> Result<void> {
    SMELT_TRY(const Bytes package, session()->export_package(with.names));
    return write_file(with.output, package);
  });
  sub->add_option("NAMES", options->names, "Keys or name@version")->required();
  sub->add_option("-o,--output", options->output, "OUT.smelt")->required();
  sub = command("import", "File a package's libraries", [](const Options& with) -> Result<void> {
    SMELT_TRY(const Bytes package, read_file(with.file));
    SMELT_TRY(const auto keys, session()->import_package(package));
    for (const Digest& key : keys) fmt::print("{}\n", to_hex(key));
    return {};
  });
  sub->add_option("FILE", options->file, "IN.smelt")->required();
}

}  // namespace smelt::cli
