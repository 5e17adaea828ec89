// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/files.hpp"
#include "smelt/cache/store.hpp"
#include "smelt/schema/store_schema.hpp"

#include "entries.hpp"
#include "files.hpp"
#include "skips.hpp"

#include <doctest/doctest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <thread>

using namespace smelt;
using namespace smelt::cache;
using test::check;
using test::execute;
using test::key_of;
using test::open;
using test::overwrite;
using test::payload;
using test::put;
using test::TemporaryFolder;

namespace {

const signing::Provenance kHere = signing::Provenance::made_here();

std::filesystem::path only_pack(const std::filesystem::path& folder) {
  return test::files_below(folder / "packs", ".pack").at(0);
}

}  // namespace

TEST_CASE("an entry comes back whole, also in a later process life and without the index") {
  TemporaryFolder folder;
  {
    auto store = open(folder / "s");
    CHECK(check(*store, 1) == 0);
    for (uint64_t id = 0; id < 50; ++id) REQUIRE(put(*store, id));
    for (uint64_t id = 0; id < 50; ++id) CHECK(check(*store, id) == 1);
    CHECK(store->counters().hits == 50);
    CHECK(store->counters().misses == 1);
  }
  for (const bool with_index : {true, false}) {
    if (!with_index) std::filesystem::remove(folder / "s/index");
    StoreOptions options;
    options.read_only = !with_index;  // does not make a new one
    auto store = open(folder / "s", options);
    const auto both = store->find_all({key_of(4), key_of(99), key_of(5)}).value();
    CHECK((both[0] && !both[1] && both[2]));
    for (uint64_t id = 0; id < 50; ++id) CHECK(check(*store, id) == 1);
    CHECK(store->list()->size() == 50);
    CHECK(store->stat()->counters.hits >= 50);
  }
}

TEST_CASE("what a put logs is small beside what it keeps") {
  TemporaryFolder folder;
  auto store = open(folder / "s");
  REQUIRE(put(*store, 0));
  const auto log = [&] { return std::filesystem::file_size(folder / "s/store.db-wal"); };
  const uint64_t before = log();
  for (uint64_t id = 1; id <= 100; ++id) REQUIRE(put(*store, id));
  CHECK((log() - before) / 100 < 11000);  // one page of each of seven trees, and now and then a page that is split
}

TEST_CASE("a burst of hundreds: whole, checked, and its users' own") {
  // 400 entries of 20 kB on average: enough for one copy of all (bulk_read.hpp), where there are huge
  // pages.
  TemporaryFolder folder;
  constexpr uint64_t kEntries = 400;
  std::vector<Digest> keys;
  {
    auto store = open(folder / "s");
    for (uint64_t id = 0; id < kEntries; ++id) {
      REQUIRE(put(*store, id));
      keys.push_back(key_of(id * 37 % kEntries));  // not in the order of the pack
    }
    keys.push_back(key_of(kEntries));  // absent
  }
  const auto same = [&](const std::optional<Entry>& entry, uint64_t id) {
    if (!entry) return false;
    const ByteView code = entry->part("kernel.metallib").value();
    const Bytes wanted = payload(id, test::size_of(id));
    return std::equal(code.begin(), code.end(), wanted.begin(), wanted.end()) &&
           as_text(entry->part("kernel.json").value()) == fmt::format("{{\"id\": {}}}", id);
  };
  for (const bool rebuilt : {false, true}) {
    if (rebuilt) std::filesystem::remove(folder / "s/index");  // what it reads ahead is then an estimate
    auto store = open(folder / "s");
    auto found = store->find_all(keys).value();
    store.reset();
    size_t right = 0;
    for (uint64_t i = 0; i < kEntries; ++i) right += same(found[i], i * 37 % kEntries);
    CHECK(right == kEntries);
    CHECK_FALSE(found.back());
  }
  // One damaged byte in the middle of a blob: that entry is noticed, all others come back.
  const Bytes victim = payload(111, test::size_of(111));
  const Bytes pack = test::must_read(only_pack(folder / "s"));
  const auto at = std::search(pack.begin(), pack.end(), victim.begin(), victim.end());
  REQUIRE(at != pack.end());
  const auto offset = static_cast<uint64_t>(at - pack.begin()) + 100;
  overwrite(only_pack(folder / "s"), offset, {pack[offset] ^ std::byte{1}});
  auto store = open(folder / "s");
  const auto found = store->find_all(keys).value();
  for (uint64_t i = 0; i < kEntries; ++i) {
    const uint64_t id = i * 37 % kEntries;
    CHECK(same(found[i], id) == (id != 111));
  }
  CHECK(store->counters().damaged == 1);
  REQUIRE(put(*store, 111));
  CHECK(check(*store, 111) == 1);
}

TEST_CASE("a miss needs no database, unless a writer may have died between its commit and the index") {
  TemporaryFolder folder;
  {
    auto store = open(folder / "s");
    for (uint64_t id = 0; id < 5; ++id) REQUIRE(put(*store, id));
  }
  {
    auto store = open(folder / "s");
    CHECK(check(*store, 99) == 0);
    CHECK_FALSE(store->find_all({key_of(98)}).value()[0]);
    CHECK(check(*store, 3) == 1);
    CHECK_FALSE(test::database_is_open());
    CHECK(store->counters().misses == 2);
  }
  // The mark that a writer sets in the head of the index, and the key that it noted. Its entry is in the database
  // alone.
  constexpr uint64_t kNoted = 44, kState = 128, kNotes = 36864;
  const std::filesystem::path index = folder / "s/index";
  const Bytes sound = test::must_read(index);
  REQUIRE((load_le<uint64_t>(sound.data() + kState) & 3) == 0);
  {
    auto store = open(folder / "s");
    REQUIRE(put(*store, 99));
  }
  Bytes stale = sound;
  stale[kState] |= std::byte{1};
  stale[kNoted] = std::byte{1};
  const Digest key = key_of(99);
  std::copy(key.bytes.begin(), key.bytes.end(), stale.begin() + kNotes);
  overwrite(index, 0, stale);
  {
    auto store = open(folder / "s");
    CHECK(check(*store, 99) == 1);
    CHECK(test::database_is_open());
    REQUIRE(put(*store, 100));  // mends the index
  }
  auto store = open(folder / "s");
  CHECK(check(*store, 99) == 1);
  CHECK(check(*store, 101) == 0);
  CHECK_FALSE(test::database_is_open());
}

TEST_CASE("an entry outlives the store, its removal and a trim") {
  TemporaryFolder folder;
  std::optional<Entry> entry;
  {
    auto store = open(folder / "s");
    REQUIRE(put(*store, 7));
    entry = store->find(key_of(7)).value();
    REQUIRE(store->remove(key_of(7)).value());
    CHECK_FALSE(store->remove(key_of(7)).value());
    CHECK(check(*store, 7) == 0);
    REQUIRE(store->trim(1));
  }
  std::filesystem::remove_all(folder / "s");
  const Bytes wanted = payload(7, test::size_of(7));
  const ByteView code = entry->part("kernel.metallib").value();
  CHECK(std::equal(code.begin(), code.end(), wanted.begin(), wanted.end()));
}

TEST_CASE("parts: names in order, empty values, large, compressed, shared") {
  TemporaryFolder folder;
  auto store = open(folder / "s");
  const Bytes large = payload(1, 3 << 20);
  std::string text;
  for (int i = 0; i < 5000; ++i) text += fmt::format("%{} = add i32 %{}, 1\n", i + 1, i);
  REQUIRE(store->put(key_of(1), {{"z", large}, {"empty", {}}, {"kernel.ll", as_bytes(text), true}}, kHere));
  REQUIRE(store->put(key_of(2), {{"other name", large}}, kHere));
  const auto entry = store->find(key_of(1)).value().value();
  REQUIRE(entry.parts().size() == 3);
  CHECK(entry.parts()[0].name == "empty");
  CHECK(entry.part("empty")->empty());
  CHECK(as_text(entry.part("kernel.ll").value()) == text);
  CHECK_FALSE(entry.part("nothing"));
  const auto stat = store->stat().value();
  CHECK(stat.raw_bytes > 2 * large.size());
  CHECK(stat.live_bytes < large.size() + text.size());  // kept once, and the text is smaller
  CHECK_FALSE(store->put(key_of(3), {{"a", {}}, {"a", {}}}, kHere));
  CHECK_FALSE(store->put(key_of(3), {{"", {}}}, kHere));
  CHECK(store->find(key_of(3)).value() == std::nullopt);
}

TEST_CASE("a put of the same bytes changes nothing, other bytes replace") {
  TemporaryFolder folder;
  auto store = open(folder / "s");
  REQUIRE(put(*store, 1));
  const auto before = store->stat()->pack_bytes;
  REQUIRE(put(*store, 1));
  CHECK(store->stat()->pack_bytes == before);
  REQUIRE(store->put(key_of(1), {{"kernel.json", as_bytes("new")}}, kHere));
  const auto entry = store->find(key_of(1)).value().value();
  CHECK(entry.parts().size() == 1);
  CHECK(as_text(entry.part("kernel.json").value()) == "new");
  CHECK(store->stat()->entries == 1);
  CHECK(store->stat()->blobs == 0);
  CHECK(store->verify()->damage.empty());
}

TEST_CASE("several entries are published together or not at all") {
  TemporaryFolder folder;
  auto store = open(folder / "s");
  const Bytes code = payload(1, 5000);
  CHECK_FALSE(store->put_all({{key_of(1), {{"a", code}}, kHere}, {key_of(2), {{"b", code}, {"b", code}}, kHere}}));
  CHECK(store->stat()->entries == 0);
  REQUIRE(store->put_all({{key_of(1), {{"a", code}}, kHere}, {key_of(2), {{"b", code}}, kHere}}));
  CHECK(store->stat()->entries == 2);
  CHECK(store->stat()->blobs == 1);
}

TEST_CASE("a changed byte anywhere in a pack is noticed, counted, and healed by a new put") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  {
    auto store = open(where);
    REQUIRE(put(*store, 3));
  }
  const Bytes pristine = test::must_read(only_pack(where));
  for (uint64_t at = 0; at < pristine.size(); at += 97) {
    overwrite(only_pack(where), 0, pristine);
    overwrite(only_pack(where), at, {pristine[at] ^ std::byte{0x10}});
    const Bytes now = test::must_read(only_pack(where));
    auto store = open(where);
    const int result = check(*store, 3);
    CHECK(result >= 0);  // never wrong bytes; a byte in the padding harms nothing
    if (result == 0) {
      CHECK(store->counters().damaged == 1);
      REQUIRE(put(*store, 3));
      CHECK(check(*store, 3) == 1);
      std::filesystem::remove_all(where);
      auto fresh = open(where);
      REQUIRE(put(*fresh, 3));
    }
  }
}

TEST_CASE("zeroed pages and cut tails: every damaged entry is noticed, none is returned") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  constexpr uint64_t kEntries = 120;
  {
    auto store = open(where);
    for (uint64_t id = 0; id < kEntries; ++id) REQUIRE(put(*store, id));
  }
  const auto pack = only_pack(where);
  const uint64_t size = std::filesystem::file_size(pack);
  for (uint64_t page = 3; page < size / 4096; page += 17) overwrite(pack, page * 4096, Bytes(4096));
  std::filesystem::resize_file(pack, size - size / 10);
  auto store = open(where);
  const auto damage = store->verify().value().damage;
  CHECK(damage.size() > 10);
  uint64_t absent = 0;
  for (uint64_t id = 0; id < kEntries; ++id) {
    const int result = check(*store, id);
    CHECK(result >= 0);
    if (result == 0) ++absent;
  }
  CHECK(absent > 10);
  CHECK(store->counters().damaged == absent);
  CHECK(store->verify()->damage.empty());
  for (uint64_t id = 0; id < kEntries; ++id) REQUIRE(put(*store, id));
  for (uint64_t id = 0; id < kEntries; ++id) CHECK(check(*store, id) == 1);
}

TEST_CASE("damaged entries that nobody asks for are counted apart from blobs, and go when that is asked for") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  constexpr uint64_t kEntries = 120;
  {
    auto store = open(where);
    for (uint64_t id = 0; id < kEntries; ++id) REQUIRE(put(*store, id));
    REQUIRE(store->tag("kept", "1", key_of(3)));
  }
  const auto pack = only_pack(where);
  const uint64_t size = std::filesystem::file_size(pack);
  for (uint64_t page = 3; page < size / 4096; page += 17) overwrite(pack, page * 4096, Bytes(4096));
  std::filesystem::resize_file(pack, size - size / 10);
  auto store = open(where);
  const VerifyReport report = store->verify().value();
  CHECK(report.entries == kEntries);
  CHECK(report.damaged_entries > 10);
  CHECK(report.damaged_entries < kEntries);
  CHECK(report.damaged_blobs > 10);
  CHECK(report.damage.size() == report.damaged_entries + report.damaged_blobs);
  CHECK(report.dropped == 0);
  uint64_t peeked = 0;
  for (uint64_t id = 0; id < kEntries; ++id) {
    const auto entry = store->peek(key_of(id));
    if (!entry) CHECK(entry.error().code == Errc::store_corrupt);
    peeked += !entry;
  }
  CHECK(peeked == report.damaged_entries);
  CHECK(store->stat()->entries == kEntries);  // looking drops nothing
  CHECK(store->verify(OnDamage::drop)->dropped == report.damaged_entries);
  const VerifyReport after = store->verify().value();
  CHECK(after.damage.empty());
  CHECK(after.entries == kEntries - report.damaged_entries);
  CHECK(store->counters().damaged == 0);
  for (uint64_t id = 0; id < kEntries; ++id) REQUIRE(put(*store, id));
  for (uint64_t id = 0; id < kEntries; ++id) CHECK(check(*store, id) == 1);
}

TEST_CASE("a trim says what tagged entries hold on to") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  auto store = open(where);
  for (uint64_t id = 0; id < 40; ++id) REQUIRE(put(*store, id));
  REQUIRE(store->tag("kept", "1", key_of(3)));
  const TrimReport report = store->trim(1000).value();
  CHECK(report.entries_removed == 39);
  CHECK(report.bytes_wanted == 1000);
  CHECK(report.bytes_after > 1000);
  CHECK(report.bytes_tagged > 1000);
  CHECK(report.bytes_tagged <= report.bytes_after);
  CHECK(check(*store, 3) == 1);
  CHECK(check(*store, 4) == 0);
}

TEST_CASE("a damaged database is rebuilt from the packs with one warning, and the store goes on") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  for (const std::string& flaw : {std::string("header"), std::string("middle"), std::string("text")}) {
    std::filesystem::remove_all(where);
    {
      auto store = open(where);
      for (uint64_t id = 0; id < 300; ++id) REQUIRE(put(*store, id));
    }
    const auto database = where / "store.db";
    if (flaw == "header") overwrite(database, 0, Bytes(100));
    if (flaw == "text") REQUIRE(write_file(database, as_bytes("this is no database, and never was; just some text")));
    if (flaw == "middle")
      overwrite(database, 4096, Bytes(std::filesystem::file_size(database) - 4096, std::byte{0x5a}));
    std::filesystem::remove(where / "index");
    int warnings = 0;
    StoreOptions options;
    options.warn = [&](std::string_view text) {
      ++warnings;
      CHECK(text.find("rebuilt from the packs") != std::string_view::npos);
    };
    auto store = open(where, options);
    for (uint64_t id = 0; id < 300; ++id) CHECK(check(*store, id) == 1);
    REQUIRE(put(*store, 1));
    CHECK(check(*store, 1) == 1);
    CHECK(warnings == 1);
    CHECK(store->verify()->damage.empty());
  }
}

TEST_CASE("a store moved or copied elsewhere, or opened read-only, works") {
  TemporaryFolder folder;
  {
    auto store = open(folder / "a");
    for (uint64_t id = 0; id < 20; ++id) REQUIRE(put(*store, id));
    REQUIRE(store->tag("flash_attn", "2.1.0", key_of(3)));
  }
  std::filesystem::rename(folder / "a", folder / "b");
  std::filesystem::copy(folder / "b", folder / "c c#?%", std::filesystem::copy_options::recursive);
  for (const char* name : {"b", "c c#?%"}) {
    auto store = open(folder / name);
    for (uint64_t id = 0; id < 20; ++id) CHECK(check(*store, id) == 1);
  }
  for (const bool with_index : {true, false}) {
    if (!with_index) std::filesystem::remove(folder / "b/index");
    StoreOptions options;
    options.read_only = true;
    auto store = open(folder / "b", options);
    for (uint64_t id = 0; id < 20; ++id) CHECK(check(*store, id) == 1);
    CHECK(check(*store, 99) == 0);
    CHECK(store->resolve("flash_attn@2").value().at(0).key == key_of(3));
    CHECK_FALSE(put(*store, 50));
    CHECK_FALSE(store->trim(1));
  }
  StoreOptions options;
  options.read_only = true;
  const auto missing = Store::open(folder / "none", options);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == Errc::file_not_found);
}

TEST_CASE("an older store is migrated once under concurrent opens") {
  TemporaryFolder folder;
  for (int round = 0; round < 5; ++round) {
    const auto where = folder / fmt::format("s{}", round);
    std::filesystem::create_directories(where / "packs");
    std::filesystem::permissions(where, std::filesystem::perms::owner_all);
    execute(
        where / "store.db",
        fmt::format("PRAGMA journal_mode=WAL; BEGIN; {}; PRAGMA user_version=1; PRAGMA application_id={}; INSERT INTO "
                    "meta VALUES('id', 77); COMMIT;",
                    schema::store_migrations()[0], schema::kStoreApplicationId));
    std::vector<std::thread> threads;
    std::atomic<int> failures{0};
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&, i] {
        auto store = Store::open(where);
        if (!store || !put(**store, static_cast<uint64_t>(i)) ||
            !(*store)->tag("n", std::to_string(i), key_of(static_cast<uint64_t>(i))))
          ++failures;
      });
    for (auto& thread : threads) thread.join();
    CHECK(failures == 0);
    auto store = open(where);
    CHECK(store->tags()->size() == 8);
    CHECK(store->stat()->schema_version == static_cast<int>(schema::store_migrations().size()));
  }
}

TEST_CASE("a store of each older schema is trimmed as one of today is") {
  TemporaryFolder folder;
  const auto migrations = schema::store_migrations();
  for (size_t version = 1; version <= migrations.size(); ++version) {
    CAPTURE(version);
    const auto where = folder / fmt::format("s{}", version);
    std::filesystem::create_directories(where / "packs");
    std::filesystem::permissions(where, std::filesystem::perms::owner_all);
    std::string sql = "PRAGMA journal_mode=WAL; BEGIN;";
    for (size_t i = 0; i < version; ++i) sql += migrations[i];
    execute(where / "store.db", sql + fmt::format("PRAGMA user_version={}; PRAGMA application_id={}; INSERT INTO meta "
                                                  "VALUES('id', 77); COMMIT;",
                                                  version, schema::kStoreApplicationId));
    StoreOptions options;
    options.segment_bytes = 1 << 20;
    auto store = open(where, options);
    for (uint64_t id = 0; id < 300; ++id) REQUIRE(put(*store, id));
    for (uint64_t id = 1; id < 300; id += 2) REQUIRE(store->remove(key_of(id)).value());
    const auto before = store->stat().value();
    const auto report = store->trim(before.live_bytes * 5 / 4).value();
    CHECK(report.entries_removed == 0);
    CHECK(report.bytes_after <= before.live_bytes * 5 / 4);
    CHECK(store->stat()->packs < before.packs);
    for (uint64_t id = 0; id < 300; ++id) CHECK(check(*store, id) == (id % 2 == 0 ? 1 : 0));
    CHECK(store->verify()->damage.empty());
  }
}

TEST_CASE("a newer store is refused, naming both numbers; another program's file is not touched") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  open(where);
  execute(where / "store.db",
          "PRAGMA user_version=99; UPDATE meta SET value=98 WHERE name='oldest'; "
          "UPDATE meta SET value=99 WHERE name='schema'");
  std::filesystem::remove(where / "index");
  for (const bool read_only : {false, true}) {
    StoreOptions options;
    options.read_only = read_only;
    const auto newer = Store::open(where, options);
    REQUIRE_FALSE(newer);
    CHECK(newer.error().code == Errc::store_newer);
    CHECK(newer.error().message.find("99") != std::string::npos);
    CHECK(newer.error().message.find(std::to_string(schema::store_migrations().size())) != std::string::npos);
  }
  execute(where / "store.db", "UPDATE meta SET value=1 WHERE name='oldest'");
  StoreOptions options;
  options.read_only = true;
  CHECK(Store::open(where, options));
  CHECK_FALSE(Store::open(where));
}

TEST_CASE("a row that names another entry's bytes does them no harm when it goes") {
  for (const bool replaced : {false, true}) {
    CAPTURE(replaced);
    TemporaryFolder folder;
    const auto where = folder / "s";
    {
      auto store = open(where);
      for (uint64_t id = 0; id < 4; ++id) REQUIRE(put(*store, id));
    }
    // Entries' rows are in the order of their puts, blobs' too.
    execute(where / "store.db", "UPDATE entry SET at=(SELECT at FROM blob ORDER BY id DESC LIMIT 1) WHERE id=1");
    auto store = open(where);
    if (replaced)
      REQUIRE(store->put(key_of(0), {{"k", as_bytes(std::string_view("other"))}}, signing::Provenance::made_here()));
    else
      REQUIRE(store->remove(key_of(0)));
    for (uint64_t id = 1; id < 4; ++id) CHECK(check(*store, id) == 1);
    CHECK(store->verify()->damage.empty());
  }
}

TEST_CASE("a damaged number of the schema is damage, not another smelt's store") {
  for (const int damaged : {4, 7, 517}) {
    CAPTURE(damaged);
    TemporaryFolder folder;
    const auto where = folder / "s";
    {
      auto store = open(where);
      for (uint64_t id = 0; id < 5; ++id) REQUIRE(put(*store, id));
    }
    execute(where / "store.db", fmt::format("PRAGMA user_version={}", damaged));
    std::filesystem::remove(where / "index");
    auto store = open(where);
    REQUIRE(put(*store, 5));
    for (uint64_t id = 0; id < 6; ++id) CHECK(check(*store, id) == 1);
    CHECK(store->verify()->damage.empty());
  }
}

TEST_CASE("folders that should not be trusted are refused") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  open(where);
  std::filesystem::permissions(where, std::filesystem::perms::all);
  const auto open_to_all = Store::open(where);
  REQUIRE_FALSE(open_to_all);
  CHECK(open_to_all.error().code == Errc::untrusted);
  std::filesystem::permissions(where, std::filesystem::perms::owner_all);
  CHECK(Store::open(where));
  if (::geteuid() == 0) {
    REQUIRE(::chown(where.c_str(), 12345, 12345) == 0);
    const auto foreign = Store::open(where);
    REQUIRE_FALSE(foreign);
    CHECK(foreign.error().code == Errc::untrusted);
    CHECK(foreign.error().message.find("12345") != std::string::npos);
  } else {
    smelt::test::skipped("another user's folder needs root to make");
  }
  REQUIRE(write_file(folder / "file", as_bytes("x")));
  CHECK_FALSE(Store::open(folder / "file"));
}

TEST_CASE("tags: exact, prefix, range, newest; a move must be asked for and history stays") {
  TemporaryFolder folder;
  auto store = open(folder / "s");
  for (uint64_t id = 1; id <= 6; ++id) REQUIRE(put(*store, id));
  REQUIRE(store->tag("fa", "2.9.0", key_of(1)));
  REQUIRE(store->tag("fa", "2.10.0", key_of(2)));
  REQUIRE(store->tag("fa", "3.0.0", key_of(3)));
  REQUIRE(store->tag("fb", "2.99.0", key_of(4)));
  const auto first = [&](const char* query) { return store->resolve(query).value().at(0).key; };
  CHECK(first("fa") == key_of(3));
  CHECK(first("fa@2") == key_of(2));
  CHECK(first("fa@2.9") == key_of(1));
  CHECK(first("fa@2.9.0") == key_of(1));
  CHECK(first("fa@>=2.9.1,<3") == key_of(2));
  CHECK(store->resolve("fa@2")->size() == 2);
  const auto none = store->resolve("fa@4");
  REQUIRE_FALSE(none);
  CHECK(none.error().code == Errc::not_cached);
  CHECK(none.error().message.find("fa@2.10.0") != std::string::npos);
  CHECK_FALSE(store->resolve("fa@=>1"));
  CHECK_FALSE(store->tag("fa", "2.9.0", key_of(5)));
  CHECK(first("fa@2.9.0") == key_of(1));
  REQUIRE(store->tag("fa", "2.9.0", key_of(5), true));
  CHECK(first("fa@2.9.0") == key_of(5));
  const auto history = store->tag_history("fa", "2.9.0").value();
  REQUIRE(history.size() == 2);
  CHECK(history[1].key == key_of(1));
  CHECK_FALSE(store->tag("fa", "9", key_of(777)));
  CHECK_FALSE(store->tag("a@b", "1", key_of(1)));
  CHECK(compare_versions("2.10", "2.9") > 0);
  CHECK(compare_versions("2.1", "2.1.0") < 0);
  CHECK(compare_versions("1.0", "1.0") == 0);
}

TEST_CASE("the budget is held; what is tagged, costly or fresh stays longest") {
  TemporaryFolder folder;
  StoreOptions options;
  options.max_bytes = 8 << 20;
  auto store = open(folder / "s", options);
  REQUIRE(put(*store, 0));
  REQUIRE(store->tag("keep", "1", key_of(0)));
  REQUIRE(put(*store, 1, std::chrono::seconds(60)));
  for (uint64_t id = 2; id < 1200; ++id) REQUIRE(put(*store, id));  // about 24 MB
  const auto stat = store->stat().value();
  CHECK(stat.pack_bytes <= options.max_bytes + options.max_bytes / 20);  // a trim may be in the middle
  CHECK(stat.counters.evicted > 500);
  CHECK(check(*store, 0) == 1);
  CHECK(check(*store, 1) == 1);
  CHECK(check(*store, 1199) == 1);
  CHECK(check(*store, 2) == 0);
  CHECK(store->verify()->damage.empty());
  uint64_t on_disk = 0;
  for (const auto& pack : test::files_below(folder / "s/packs", ".pack")) on_disk += std::filesystem::file_size(pack);
  CHECK(on_disk <= options.max_bytes + (2 << 20));
  const auto trimmed = store->trim(1 << 20).value();
  CHECK(trimmed.bytes_after <= 1 << 20);
  for (uint64_t id = 0; id < 1200; ++id) CHECK(check(*store, id) >= 0);
  CHECK(check(*store, 0) == 1);
}

TEST_CASE("one store, many threads") {
  TemporaryFolder folder;
  StoreOptions options;
  options.max_bytes = 4 << 20;
  auto store = open(folder / "s", options);
  std::atomic<int> wrong{0}, failed{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 120; ++i) {
        if (t % 2 == 0 && !put(*store, t * 1000 + i)) ++failed;
        if (check(*store, (t + i) % 6 * 1000 + i) < 0) ++wrong;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(failed == 0);
  CHECK(store->verify()->damage.empty());
}

TEST_CASE("the schema that migrations make is the one in current.sql") {
  TemporaryFolder folder;
  open(folder / "s");
  sqlite3* connection = nullptr;
  REQUIRE(sqlite3_open((folder / "s/store.db").c_str(), &connection) == SQLITE_OK);
  std::string dump;
  const auto row = [](void* out, int, char** values, char**) {
    *static_cast<std::string*>(out) += std::string(values[0]) + ";\n";
    return 0;
  };
  REQUIRE(sqlite3_exec(connection, "SELECT sql FROM sqlite_master WHERE sql NOT NULL ORDER BY type DESC, name", row,
                       &dump, nullptr) == SQLITE_OK);
  sqlite3_close(connection);
  const std::filesystem::path golden = std::filesystem::path(SMELT_SOURCE_DIR) / "schema/store/current.sql";
  if (std::getenv("SMELT_ACCEPT")) {
    REQUIRE(write_file(golden, as_bytes(dump)));
    MESSAGE("accepted a new schema/store/current.sql");
    return;
  }
  CHECK(as_text(test::must_read(golden)) == dump);
}
