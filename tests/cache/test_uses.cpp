// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hours of use and counters: noted in the index by finds, carried to the database by whoever writes or closes.
#include "smelt/cache/store.hpp"

#include "entries.hpp"
#include "files.hpp"
#include "processes.hpp"

#include <doctest/doctest.h>

#include <cstring>

using namespace smelt;
using namespace smelt::cache;
using test::check;
using test::execute;
using test::key_of;
using test::open;
using test::overwrite;
using test::put;
using test::spawn;
using test::TemporaryFolder;
using test::wait_for;

namespace {

constexpr uint64_t kEntries = 400, kUsed = 20;

/// A store whose entries were all used a hundred hours ago, and no index.
void make_old(const std::filesystem::path& where) {
  {
    auto store = open(where);
    for (uint64_t id = 0; id < kEntries; ++id) REQUIRE(put(*store, id));
  }
  execute(where / "store.db", "UPDATE entry SET used=used-100");
  std::filesystem::remove(where / "index");
}

/// As if the machine had been started anew an hour later than it was: the index is of another boot.
void fake_boot(const std::filesystem::path& where) {
  constexpr uint64_t kBootTime = 24, kBootId = 52;  // in the index' header
  const Bytes index = test::must_read(where / "index");
  overwrite(where / "index", kBootId, Bytes(4));
  Bytes moved(8);
  store_le(moved.data(), load_le<uint64_t>(index.data() + kBootTime) - 3600);
  overwrite(where / "index", kBootTime, moved);
}

uint64_t recently_used(const std::filesystem::path& where) {
  const auto entries = open(where)->list().value();
  uint64_t newest = 0, count = 0;
  for (const EntryInfo& entry : entries) newest = std::max(newest, entry.used_hour);
  for (const EntryInfo& entry : entries) count += entry.used_hour + 50 > newest;
  return count;
}

}  // namespace

TEST_CASE("what was used last survives a reboot and the loss of the index, and outlives a trim") {
  for (const std::string lost : {"boot", "index", "boot after a kill"}) {
    CAPTURE(lost);
    TemporaryFolder folder;
    const auto where = folder / "s";
    make_old(where);
    CHECK(wait_for(spawn([&] {
            auto store = open(where);
            for (uint64_t id = 0; id < kUsed; ++id)
              if (check(*store, id) != 1) return 1;
            if (lost == "boot after a kill") ::_exit(0);  // nothing is closed: what the index has must do
            store.reset();
            return 0;
          })) == 0);
    if (lost == "index")
      std::filesystem::remove(where / "index");
    else
      fake_boot(where);
    CHECK(recently_used(where) == kUsed);
    auto store = open(where);
    const uint64_t budget = 3 << 20;  // of about 8 MB
    REQUIRE(store->trim(budget));
    for (uint64_t id = 0; id < kUsed; ++id) CHECK(check(*store, id) == 1);
    uint64_t left = 0;
    for (uint64_t id = kUsed; id < kEntries; ++id) left += check(*store, id) == 1;
    CHECK(left < kEntries / 2);
  }
}

TEST_CASE("a process that lives long saves uses in passing, as it writes") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  make_old(where);
  CHECK(wait_for(spawn([&] {
          auto store = open(where);
          for (uint64_t id = 0; id < kUsed; ++id)
            if (check(*store, id) != 1) return 1;
          for (uint64_t id = kEntries; id < kEntries + 8; ++id)
            if (!put(*store, id)) return 2;
          ::_exit(0);
        })) == 0);
  std::filesystem::remove(where / "index");
  CHECK(recently_used(where) == kUsed + 8);
}

TEST_CASE("an entry that a trim moves keeps its hour") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  StoreOptions options;
  options.segment_bytes = 1 << 20;
  {
    auto store = open(where, options);
    for (uint64_t id = 0; id < kEntries; ++id) REQUIRE(put(*store, id));
  }
  execute(where / "store.db", "UPDATE entry SET used=used-100");
  std::filesystem::remove(where / "index");
  auto store = open(where, options);
  for (uint64_t id = 0; id < kEntries; id += 20) CHECK(check(*store, id) == 1);
  REQUIRE(store->trim(4 << 20));
  const auto entries = store->list().value();
  uint64_t newest = 0, count = 0;
  for (const EntryInfo& entry : entries) newest = std::max(newest, entry.used_hour);
  for (const EntryInfo& entry : entries) count += entry.used_hour == newest;
  CHECK(count == kEntries / 20);
  for (uint64_t id = 0; id < kEntries; id += 20) CHECK(check(*store, id) == 1);
}

TEST_CASE("counters of all processes survive the loss of the index and a reboot") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  {
    auto store = open(where);
    REQUIRE(put(*store, 1));
    for (int i = 0; i < 10; ++i) CHECK(check(*store, 1) == 1);
  }
  for (const bool boot : {true, false}) {
    if (boot)
      fake_boot(where);
    else
      std::filesystem::remove(where / "index");
    const auto counters = open(where)->stat()->counters;
    CHECK(counters.hits == 10);
    CHECK(counters.puts == 1);
  }
}

TEST_CASE("each entry has the number of its finds, through moves, replacements and the loss of the index") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  StoreOptions options;
  options.segment_bytes = 1 << 20;
  const auto hits = [&](Store& store, uint64_t id) {
    const auto entries = store.list().value();
    for (const EntryInfo& entry : entries)
      if (entry.key == key_of(id)) return static_cast<int>(entry.hits);
    return -1;
  };
  {
    auto store = open(where, options);
    for (uint64_t id = 0; id < kEntries; ++id) REQUIRE(put(*store, id));
    for (int i = 0; i < 3; ++i) CHECK(check(*store, 7) == 1);
    CHECK(store->find_all({key_of(7), key_of(8)})->size() == 2);
    CHECK(store->indexed(key_of(8)));            // waiting for a key is no find of it,
    CHECK(store->peek(key_of(8))->has_value());  // nor is looking at the store
    CHECK(hits(*store, 7) == 4);
    CHECK(hits(*store, 8) == 1);
    CHECK(hits(*store, 9) == 0);
    CHECK(store->counters().hits == 5);
    REQUIRE(put(*store, 7));  // again the same
    REQUIRE(store->put(key_of(8), {{"other", ByteView()}}, signing::Provenance::made_here()));
    CHECK(hits(*store, 7) == 4);
    CHECK(hits(*store, 8) == 1);
    REQUIRE(store->tag("kept", "1", key_of(7)));
    REQUIRE(store->trim(4 << 20));
    CHECK(hits(*store, 7) == 4);
  }
  fake_boot(where);
  auto store = open(where, options);
  CHECK(hits(*store, 7) == 4);
  for (int i = 0; i < 2; ++i) CHECK(check(*store, 7) == 1);
  CHECK(hits(*store, 7) == 6);
}

TEST_CASE("an index that has to grow keeps what it has, hours and hits too") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  auto store = open(where);
  const auto fill = [&](uint64_t first, uint64_t count) {
    std::vector<Store::Put> puts;
    for (uint64_t id = first; id < first + count; ++id)
      puts.push_back({key_of(id), {{"k", as_bytes("small")}}, signing::Provenance::made_here()});
    REQUIRE(store->put_all(puts));
  };
  fill(0, 2000);
  for (int i = 0; i < 3; ++i) CHECK(store->find(key_of(5)).value().has_value());
  const auto before = std::filesystem::file_size(where / "index");
  auto other = open(where);
  for (uint64_t first = 2000; first < 30000; first += 500) fill(first, 500);
  CHECK(std::filesystem::file_size(where / "index") > before * 4);
  for (uint64_t id = 0; id < 30000; ++id)
    if (!other->indexed(key_of(id))) FAIL(id);
  CHECK_FALSE(other->indexed(key_of(30000)));
  const auto entries = store->list().value();
  for (const EntryInfo& entry : entries)
    if (entry.key == key_of(5)) CHECK(entry.hits == 3);
}

TEST_CASE("hits of processes that ended are in the database") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  make_old(where);
  CHECK(wait_for(spawn([&] {
          auto store = open(where);
          for (int i = 0; i < 5; ++i)
            if (check(*store, 1) != 1) return 1;
          store.reset();
          return 0;
        })) == 0);
  std::filesystem::remove(where / "index");
  uint64_t hits = 0;
  const auto list = open(where)->list().value();
  for (const EntryInfo& entry : list)
    if (entry.key == key_of(1)) hits = entry.hits;
  CHECK(hits == 5);
}

TEST_CASE("finds never open the database; closing does once an hour") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  {
    auto store = open(where);
    for (uint64_t id = 0; id < kUsed; ++id) REQUIRE(put(*store, id));
  }
  open(where);  // has the round finished, if the puts have not
  // Not a database any more, but the same file: who looks at it fails.
  overwrite(where / "store.db", 0, Bytes(100, std::byte{0x5a}));
  for (int i = 0; i < 3; ++i) {
    auto store = open(where);
    for (uint64_t id = 0; id < kUsed; ++id) CHECK(check(*store, id) == 1);
    CHECK(check(*store, 999) == 0);
  }
  for (const auto& entry : std::filesystem::directory_iterator(where))
    CHECK(entry.path().filename().string().find("damaged") == std::string::npos);
}
