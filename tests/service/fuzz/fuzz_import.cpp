// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hostile archives into a store: packages by import, entries out of a remote whose files were changed. Either all of it
// is there afterwards, found under its keys and exported again, or an error says why and the store is as it was.
//
//   fuzz_import --seconds 3600 --first 1 --keep found FOLDER
//
// An archive is known by its number: --only N tries it alone. The number is written to KEEP/current before it is tried,
// for a process that ends. Exit status: 0 no finding, 1 findings.
#include "smelt/base/files.hpp"
#include "smelt/base/text.hpp"
#include "smelt/remote/tiered_store.hpp"
#include "smelt/schema/entry_record.hpp"
#include "smelt/service/stored.hpp"
#include "smelt/signing/origin.hpp"

#include "bytes.hpp"
#include "files.hpp"
#include "packages.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>

using namespace smelt;
using namespace smelt::test;
using Clock = std::chrono::steady_clock;

namespace {

namespace fs = std::filesystem;

template <class T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "fuzz_import: {}\n", result.error().message);
  std::exit(2);
}

void must(const Result<void>& result) {
  if (result) return;
  fmt::print(stderr, "fuzz_import: {}\n", result.error().message);
  std::exit(2);
}

std::string judge_message(const Error& error) {
  if (error.message.empty()) return "an error without a message";
  if (printable(error.message) != error.message) return "a control byte in a message";
  if (error.message.find('\n') != error.message.npos) return "a message of several lines";
  if (error.message.size() > 2000) return "a message without an end";
  return {};
}

struct Counts {
  uint64_t imports = 0, imported = 0, pulls = 0, found = 0;
};

/// A store into which everything is imported; made anew now and then, so that it stays small.
class Importer {
 public:
  Importer() : folder_(std::make_unique<TemporaryFolder>()), store_(must(cache::Store::open(folder_->path()))) {}

  std::string run(ByteView package, bool move, Counts& counts) {
    ++counts.imports;
    const std::string before = contents();
    const auto imported = service::import_package(*store_, package, move);
    if (!imported) {
      if (contents() != before) return "refused, and the store is not as it was: " + imported.error().message;
      return judge_message(imported.error());
    }
    ++counts.imported;
    const auto opened = schema::Package::open(package);
    if (!opened || opened->library_count() != imported->keys.size()) return "another number of keys than of libraries";
    for (size_t i = 0; i < imported->keys.size(); ++i)
      if (std::string problem = look(*opened, static_cast<uint32_t>(i), *imported); !problem.empty()) return problem;
    const auto exported = service::export_package(*store_, imported->keys);
    if (!exported) return "cannot be exported again: " + exported.error().message;
    const auto again = service::import_package(*store_, *exported, move);
    if (!again || again->keys != imported->keys) return "exported and imported again it is something else";
    return {};
  }

 private:
  std::string look(const schema::Package& package, uint32_t i, const service::Imported& imported) {
    const Digest& key = imported.keys[i];
    const auto entry = store_->find(key);
    if (!entry || !*entry) return "its entry is not found";
    const auto bytes = (*entry)->part(service::kPackagePart);
    if (!bytes || !schema::Package::open(*bytes)) return "what is kept of it is no package";
    const schema::LibraryView library = package.library(i);
    if (library.version.empty()) return {};
    const auto history = store_->tag_history(library.name, library.version);
    if (!history || history->empty()) return "its tag is not there";
    const bool moved = std::any_of(imported.moves.begin(), imported.moves.end(), [&](const service::TagMove& one) {
      return one.name == library.name && one.version == library.version;
    });
    if (!moved && history->front().key != key) return "its tag points elsewhere";
    return {};
  }

  std::string contents() {
    std::string text;
    for (const auto& entry : must(store_->list())) text += to_hex(entry.key);
    for (const auto& tag : must(store_->tags())) text += tag.name + '@' + tag.version + to_hex(tag.key);
    return text;
  }

  std::unique_ptr<TemporaryFolder> folder_;
  std::shared_ptr<cache::Store> store_;
};

/// A mirror with one sound entry, whose files are changed; each time another store reads it.
class Mirror {
 public:
  explicit Mirror(ByteView package) {
    parts_ = {{service::kPackagePart, package}, {"text", as_bytes(text_)}};
    const auto from = open(folder_ / "from");
    must(from->push(key_, parts_));
    for (const auto& file : fs::recursive_directory_iterator(folder_ / "mirror"))
      if (file.is_regular_file()) files_[file.path().string()] = must(read_file(file.path()));
  }

  std::string run(std::mt19937_64& random, Counts& counts) {
    ++counts.pulls;
    const bool resealed = change(random);
    const TemporaryFolder place;
    const auto store = open(place / "store");
    const auto found = store->find(key_, true);
    for (const auto& [name, bytes] : files_) must(write_file(name, bytes));
    if (!found) return judge_message(found.error());
    if (!*found) return {};
    ++counts.found;
    for (const auto& part : (*found)->parts())
      if (part.name == signing::kOriginPart) return "an entry wrote where it came from itself";
    if (resealed) return {};  // who can write records there says what they hold
    for (const auto& part : parts_) {
      const auto bytes = (*found)->part(part.name);
      if (!bytes || to_bytes(*bytes) != to_bytes(part.bytes)) return "damage in a mirror came through as an entry";
    }
    return {};
  }

 private:
  std::shared_ptr<remote::TieredStore> open(const fs::path& local) const {
    fs::create_directories(folder_ / "mirror");
    remote::TierOptions options;
    options.remotes = must(remote::parse_addresses("file://" + (folder_ / "mirror").string()));
    options.policy.level = signing::Level::any;
    options.warn = [](std::string_view) {};
    return must(remote::TieredStore::open(must(cache::Store::open(local)), std::move(options)));
  }

  /// True when a changed record was given a right sum.
  bool change(std::mt19937_64& random) {
    auto file = files_.begin();
    std::advance(file, random() % files_.size());
    Bytes bytes = file->second;
    const bool record = as_text(bytes).starts_with("smelt-entry");
    const bool seal = record && random() % 4 != 0;
    if (seal) bytes.resize(as_text(bytes).rfind("sum "));
    if (record && random() % 2 == 0)
      change_line(bytes, random);
    else
      change_bytes(bytes, random);
    if (seal) {
      const std::string sum = fmt::format("sum {}\n", to_hex(sha256(bytes)));
      bytes.insert(bytes.end(), as_bytes(sum).begin(), as_bytes(sum).end());
    }
    must(write_file(file->first, bytes));
    return seal;
  }

  /// A number of the record, a line left out, twice, or of a forger.
  static void change_line(Bytes& bytes, std::mt19937_64& random) {
    std::string text(as_text(bytes));
    static const std::string kLines[] = {"part 0 " + std::string(64, '0') + " .origin\n",
                                         "part 18446744073709551615 " + std::string(64, 'f') + " a\n",
                                         "blob zstd 99999999999 " + std::string(64, 'a') + "\n",
                                         "blob none 0 " + std::string(64, 'a') + "\n",
                                         "signed ci:AAAA\n",
                                         "made-from \x1b[31m\n",
                                         "cost 99999999999999999999\n",
                                         "key " + std::string(64, '0') + "\n"};
    size_t at = text.find('\n', random() % text.size());
    at = at == text.npos ? 0 : at + 1;
    const size_t end = std::min(text.size(), text.find('\n', at) == text.npos ? text.size() : text.find('\n', at) + 1);
    switch (random() % 4) {
      case 0:
        text.erase(at, end - at);
        break;
      case 1:
        text.insert(at, text.substr(at, end - at));
        break;
      case 2:
        text.insert(at, kLines[random() % std::size(kLines)]);
        break;
      default:
        if (const size_t digit = text.find_first_of("0123456789", at); digit != text.npos)
          text.replace(digit, 1, random() % 2 == 0 ? "9" : "99999999999");
    }
    bytes = to_bytes(as_bytes(text));
  }

  TemporaryFolder folder_;
  const Digest key_ = sha256(as_bytes("an entry"));
  const std::string text_ = std::string(5000, 'a');  // is packed
  std::vector<cache::Entry::Part> parts_;
  std::map<std::string, Bytes> files_;
};

}  // namespace

int main(int argc, char** argv) {
  double seconds = 10;
  uint64_t first = 1;
  std::optional<uint64_t> only;
  std::string keep = "findings", seeds_folder;
  CLI::App app("Imports hostile packages, and reads entries out of damaged mirrors.", "fuzz_import");
  app.add_option("--seconds", seconds, "How long")->capture_default_str();
  app.add_option("--first", first, "Number of the first archive")->capture_default_str();
  app.add_option("--only", only, "This archive alone");
  app.add_option("SEEDS", seeds_folder, "Folder with packages")->required();
  app.add_option("--keep", keep, "Folder for archives that were findings");
  CLI11_PARSE(app, argc, argv);

  unsetenv("SMELT_TRUST");
  std::vector<Bytes> seeds;
  for (const fs::path& file : files_below(seeds_folder, ".smelt")) seeds.push_back(must_read(file));
  if (seeds.empty()) {
    fmt::print(stderr, "fuzz_import: no package in {}\n", seeds_folder);
    return 2;
  }
  const std::vector<schema::Library> sound = sound_libraries(seeds.front());
  seeds.push_back(must(schema::write_package(sound)));
  fs::create_directories(keep);
  Mirror mirror(seeds.back());
  Counts counts;
  uint64_t findings = 0, number = only.value_or(first);
  const auto began = Clock::now();
  auto importer = std::make_unique<Importer>();
  for (;; ++number) {
    const double spent = std::chrono::duration<double>(Clock::now() - began).count();
    if (only ? number != *only : spent > seconds) break;
    std::ofstream(fs::path(keep) / "current") << number << "\n";
    std::mt19937_64 random(number * 0x9E3779B97F4A7C15u + 1);
    random.discard(8);
    std::string problem;
    Bytes package;
    if (number % 4 == 0) {
      problem = mirror.run(random, counts);
    } else {
      // What was imported before is part of it: a new store now and then, and always for a single archive.
      if (counts.imports % 100 == 99) importer = std::make_unique<Importer>();
      package = hostile_package(seeds, sound, random);
      problem = importer->run(package, random() % 4 == 0, counts);
    }
    if (problem.empty()) continue;
    ++findings;
    fmt::print("FINDING: archive {}: {}\n", number, problem);
    std::fflush(stdout);
    if (!package.empty()) must(write_file(fs::path(keep) / fmt::format("archive-{}.smelt", number), package));
  }
  fmt::print(
      "{:.0f} s, next {}: {} packages, {} of them imported; {} changes of a mirror, {} entries found; {} findings\n",
      std::chrono::duration<double>(Clock::now() - began).count(), number, counts.imports, counts.imported,
      counts.pulls, counts.found, findings);
  return findings == 0 && (only || (counts.imported > 0 && counts.found > 0)) ? 0 : 1;
}
