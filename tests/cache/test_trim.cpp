// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trims: in slices after a put, by age, to nothing, and on a database whose rows say what is not so.
#include "smelt/cache/store.hpp"

#include "entries.hpp"
#include "files.hpp"
#include "processes.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

using namespace smelt;
using namespace smelt::cache;
using test::check;
using test::execute;
using test::key_of;
using test::open;
using test::payload;
using test::put;
using test::spawn;
using test::TemporaryFolder;
using test::wait_for;

namespace {

void put_small(Store& store, uint64_t first, uint64_t last) {
  std::vector<Store::Put> puts;
  for (uint64_t id = first; id < last; ++id)
    puts.push_back({key_of(id), {{"k", as_bytes("small")}}, signing::Provenance::made_here()});
  REQUIRE(store.put_all(puts));
}

uint64_t packs_of(const std::filesystem::path& where) {
  uint64_t bytes = 0;
  for (const auto& pack : test::files_below(where / "packs", ".pack")) bytes += std::filesystem::file_size(pack);
  return bytes;
}

/// What a folder takes on its disk, but for the log of its database; holes not counted.
uint64_t taken_by(const std::filesystem::path& where) {
  uint64_t bytes = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(where)) {
    struct stat status{};
    if (!file.path().string().ends_with("-wal") && ::stat(file.path().c_str(), &status) == 0)
      bytes += static_cast<uint64_t>(status.st_blocks) * 512;
  }
  return bytes;
}

constexpr uint64_t kFloor = 4 << 20;  // docs/guide/store.md: what is extra

/// A third of all are gone from time to time; what is found is right.
int find_small_until(Store& store, uint64_t entries, const std::atomic<bool>& over) {
  for (uint64_t id = 0; !over; id = (id + 7919) % entries) {
    const auto found = store.find(key_of(id));
    if (!found) return 1;
    if (*found && as_text((*found)->part("k").value()) != "small") return 2;
    if (store.find(key_of(entries + id)).value()) return 3;
  }
  return 0;
}

}  // namespace

TEST_CASE("a trim to a tenth gives back the room of the index and of the database, also under readers") {
  for (const bool by_puts : {false, true}) {
    CAPTURE(by_puts);
    TemporaryFolder folder;
    const auto where = folder / "s";
    constexpr uint64_t kEntries = 60000;
    StoreOptions options;
    options.max_bytes = 0;
    auto store = open(where, options);
    for (uint64_t id = 0; id < kEntries; id += 1000) put_small(*store, id, id + 1000);
    store.reset();
    const uint64_t full = taken_by(where), budget = full / 10;
    struct Shared {
      std::atomic<bool> ready, over;
    };
    auto* shared = static_cast<Shared*>(
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    const pid_t reader = spawn([&] {
      auto other = open(where, options);
      (void)other->find(key_of(1));
      shared->ready = true;
      return find_small_until(*other, kEntries, shared->over);
    });
    while (!shared->ready) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    options.max_bytes = budget;
    store = open(where, options);
    auto early = open(where);
    if (by_puts)
      for (uint64_t id = 0; id < 4000 && (id % 50 != 0 || taken_by(where) > budget + kFloor); ++id)
        put_small(*store, 2 * kEntries + id, 2 * kEntries + id + 1);
    else
      REQUIRE(store->trim());
    shared->over = true;
    CHECK(wait_for(reader) == 0);
    ::munmap(shared, sizeof(Shared));
    CHECK(taken_by(where) < budget * 11 / 10 + kFloor);
    const auto stat = store->stat().value();
    CHECK(stat.entries > kEntries / 40);  // it is not emptied to get there
    const std::filesystem::path log = where / "store.db-wal";
    CHECK(stat.disk_bytes <
          budget * 11 / 10 + kFloor + (std::filesystem::exists(log) ? file_size(log) : 0) + (1 << 16));
    uint64_t indexed = 0;
    const auto entries = store->list().value();
    for (const EntryInfo& entry : entries) {
      indexed += early->indexed(entry.key);
      const auto found = early->find(entry.key);
      REQUIRE((found && *found));
    }
    CHECK(indexed == stat.entries);
    CHECK(store->verify()->damage.empty());
    // And it grows again.
    for (uint64_t id = 0; id < 10000; id += 1000) put_small(*early, 3 * kEntries + id, 3 * kEntries + id + 1000);
    for (uint64_t id = 0; id < 10000; ++id) CHECK(early->indexed(key_of(3 * kEntries + id)));
    CHECK(open(where, options)->verify()->damage.empty());
  }
}

TEST_CASE("a put that passes the budget does a piece of a trim, and those after it go on to its end") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  StoreOptions options;
  options.max_bytes = 16 << 20;
  options.trim_slice = std::chrono::microseconds(1);  // one piece, whatever the machine
  auto store = open(where, options);
  uint64_t id = 0;
  for (; store->counters().evicted == 0; id += 20) {
    REQUIRE(id < 1000000);
    put_small(*store, id, id + 20);
  }
  // A tenth of all goes: thousands of entries. Long before, the pages of their rows make the store smaller than the
  // budget.
  const uint64_t entries = store->stat()->entries, begun = store->counters().evicted;
  CHECK(begun < entries / 50);
  uint64_t puts = 0, goes = 0;
  for (uint64_t last = begun, idle = 0; idle < 100; ++puts) {
    put_small(*store, id + puts, id + puts + 1);
    const uint64_t evicted = store->counters().evicted;
    goes += evicted != last;
    idle = evicted != last ? 0 : idle + 1;
    last = evicted;
  }
  CHECK(goes > 10);
  CHECK(puts < goes + 150);  // none rested before the last of them was gone
  CHECK(store->counters().evicted > entries / 20);
  CHECK(packs_of(where) < options.max_bytes);
  CHECK(store->verify()->damage.empty());
  CHECK_FALSE(store->find(key_of(0)).value().has_value());
  CHECK(store->find(key_of(id + puts - 1)).value().has_value());
}

TEST_CASE("what nobody has used for so long goes, whatever the budget is") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  {
    auto store = open(where);
    for (uint64_t id = 0; id < 200; ++id) REQUIRE(put(*store, id));
    REQUIRE(store->tag("kept", "1", key_of(150)));
  }
  execute(where / "store.db", "UPDATE entry SET used=used-240 WHERE id>100");
  std::filesystem::remove(where / "index");
  auto store = open(where);
  CHECK(check(*store, 151) == 1);
  const uint64_t before = store->stat()->pack_bytes;
  CHECK(store->trim(TrimOptions{{}, std::chrono::hours(241), false})->entries_removed == 0);
  const TrimReport report = store->trim(TrimOptions{{}, std::chrono::hours(240), false}).value();
  CHECK(report.entries_removed == 98);
  CHECK(store->stat()->pack_bytes < before * 3 / 4);
  for (uint64_t id = 0; id < 200; ++id) CHECK(check(*store, id) == (id < 100 || id == 150 || id == 151 ? 1 : 0));
  CHECK(store->verify()->damage.empty());
}

TEST_CASE("a trim to nothing empties the store and its tables; tags are a reason to stay unless told otherwise") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  auto store = open(where);
  for (uint64_t id = 0; id < 5000; id += 1000) put_small(*store, id, id + 1000);
  for (uint64_t id = 5000; id < 5100; ++id) REQUIRE(put(*store, id));
  REQUIRE(store->tag("kept", "1", key_of(5003)));
  execute(where / "store.db", "PRAGMA wal_checkpoint(TRUNCATE)");
  const uint64_t before = std::filesystem::file_size(where / "store.db");
  CHECK(store->trim(0)->entries_removed == 5099);
  CHECK(check(*store, 5003) == 1);
  CHECK(store->stat()->entries == 1);
  CHECK(std::filesystem::file_size(where / "store.db") < before / 4);
  CHECK(store->trim(TrimOptions{0, {}, true})->entries_removed == 1);
  CHECK(store->stat()->entries == 0);
  CHECK(store->stat()->pack_bytes == 0);
  CHECK(store->tags()->empty());
  for (uint64_t id = 0; id < 50; ++id) {
    CHECK(check(*store, id) == 0);
    REQUIRE(put(*store, id));
    CHECK(check(*store, id) == 1);
  }
  REQUIRE(store->tag("kept", "1", key_of(3)));
  CHECK(store->verify()->damage.empty());
  CHECK(check(*open(where), 7) == 1);
}

TEST_CASE("a trim ends on a database whose rows say that packs are dead which are not") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  constexpr uint64_t kEntries = 60;
  const auto value = [](uint64_t id, uint64_t part) { return payload(7 * id + part, 3000); };
  CHECK(wait_for(spawn([&] {
          ::alarm(100);  // it went on for ever
          StoreOptions options;
          options.max_bytes = 0;
          options.segment_bytes = 32768;
          auto store = open(where, options);
          for (uint64_t id = 0; id < kEntries; ++id) {
            const Bytes parts[] = {value(id, 0), value(id, 1), value(id, 2)};
            if (!store->put(key_of(id), {{"a", parts[0]}, {"b", parts[1]}, {"c", parts[2]}},
                            signing::Provenance::made_here()))
              return 1;
          }
          const uint64_t live = store->stat()->live_bytes;
          execute(where / "store.db", "UPDATE pack SET live=live/3");
          for (const uint64_t wanted : {live / 2, live / 3, live / 20}) (void)store->trim(wanted);
          store = open(where, options);
          for (uint64_t id = 0; id < kEntries; ++id) {
            const auto found = store->find(key_of(id));
            if (!found) return 2;
            if (*found && to_bytes((*found)->part("b").value()) != value(id, 1)) return 3;
          }
          if (!store->verify(OnDamage::drop)) return 4;
          for (uint64_t id = 0; id < 40; ++id)
            if (!put(*store, id) || check(*store, id) != 1) return 5;
          return store->verify()->damage.empty() ? 0 : 6;
        })) == 0);
}

TEST_CASE("a list in pieces has each entry once, by its key") {
  TemporaryFolder folder;
  auto store = open(folder / "s");
  CHECK(store->list({}, 7)->empty());
  for (uint64_t id = 0; id < 49; ++id) REQUIRE(put(*store, id));
  REQUIRE(store->put(Digest(), {{"k", as_bytes("the first of all keys")}}, signing::Provenance::made_here()));
  std::vector<EntryInfo> all;
  for (std::optional<Digest> last;;) {
    const auto some = store->list(last, 7).value();
    if (some.empty()) break;
    all.insert(all.end(), some.begin(), some.end());
    last = all.back().key;
  }
  REQUIRE(all.size() == 50);
  CHECK(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.key < b.key; }));
  CHECK(store->list()->size() == 50);
}

TEST_CASE("counters that are reset begin at zero, for this process and the next") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  {
    auto store = open(where);
    for (uint64_t id = 0; id < 5; ++id) REQUIRE(put(*store, id));
    for (uint64_t id = 0; id < 8; ++id) check(*store, id);
  }
  {
    auto store = open(where);
    CHECK(store->stat()->counters.hits == 5);
    check(*store, 1);
    REQUIRE(store->reset_counters());
    CHECK(store->stat()->counters.hits == 0);
    CHECK(store->stat()->counters.puts == 0);
    check(*store, 2);
  }
  const auto counters = open(where)->stat()->counters;
  CHECK(counters.hits == 1);
  CHECK(counters.misses == 0);
}

TEST_CASE("the budget is a variable, with units") {
  const char* const before = std::getenv("SMELT_STORE_MAX_SIZE");
  const std::string kept = before ? before : "";
  const auto with = [](const char* text) {
    ::setenv("SMELT_STORE_MAX_SIZE", text, 1);
    return default_max_bytes();
  };
  CHECK(with("20GiB").value() == uint64_t{20} << 30);
  CHECK(with("500 mb").value() == uint64_t{500} << 20);
  CHECK(with("7").value() == 7);
  CHECK(with("").value() == uint64_t{5} << 30);
  for (const char* text : {"20 giraffes", "-1", "1.5GiB", "GiB", "99999999999999E", "1kiB!"}) {
    CAPTURE(text);
    const auto wrong = with(text);
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().message.find("SMELT_STORE_MAX_SIZE") != std::string::npos);
  }
  if (before)
    ::setenv("SMELT_STORE_MAX_SIZE", kept.c_str(), 1);
  else
    ::unsetenv("SMELT_STORE_MAX_SIZE");
}
