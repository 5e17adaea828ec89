// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The index: it grows while it is read, is filled in steps, mended after a writer that died, and believed in nothing.
#include "smelt/cache/file_layer.hpp"
#include "smelt/cache/store.hpp"

#include "entries.hpp"
#include "files.hpp"
#include "processes.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <random>
#include <thread>

using namespace smelt;
using namespace smelt::cache;
using test::check;
using test::key_of;
using test::must_read;
using test::open;
using test::put;
using test::spawn;
using test::TemporaryFolder;
using test::wait_for;

namespace {

const signing::Provenance kHere = signing::Provenance::made_here();

void put_numbers(Store& store, uint64_t first, uint64_t last) {
  std::vector<std::string> texts;
  std::vector<Store::Put> puts;
  for (uint64_t id = first; id < last; ++id) texts.push_back(std::to_string(id));
  for (uint64_t id = first; id < last; ++id) puts.push_back({key_of(id), {{"k", as_bytes(texts[id - first])}}, kHere});
  REQUIRE(store.put_all(puts));
}

/// 1: as it was put, 0: absent, -1: wrong.
int number_at(Store& store, uint64_t id) {
  const auto found = store.find(key_of(id));
  if (!found) return -1;
  if (!*found) return 0;
  return as_text((*found)->part("k").value()) == std::to_string(id) ? 1 : -1;
}

ino_t inode_of(const std::filesystem::path& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

}  // namespace

TEST_CASE("an index that grows under readers: what was acknowledged is found at any moment, from other processes too") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  constexpr uint64_t kEntries = 40000, kOnce = 100;
  struct Shared {
    std::atomic<uint64_t> acknowledged, looked;
    std::atomic<bool> over;
  };
  auto* shared =
      static_cast<Shared*>(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  {
    put_numbers(*open(where), 0, kOnce);
  }
  shared->acknowledged = kOnce;
  std::vector<pid_t> readers;
  for (unsigned reader = 0; reader < 2; ++reader)
    readers.push_back(spawn([&] {
      auto store = open(where);
      std::atomic<int> wrong{0};
      const auto look = [&](unsigned seed) {
        std::mt19937_64 random(seed);
        while (!shared->over) {
          const uint64_t known = shared->acknowledged;
          // The newest and any.
          if (number_at(*store, known - 1) != 1) wrong = 1;
          if (number_at(*store, random() % known) != 1) wrong = 2;
          if (number_at(*store, kEntries + random() % kEntries) != 0) wrong = 3;
          ++shared->looked;
        }
      };
      std::thread other(look, 2 * reader);
      look(2 * reader + 1);
      other.join();
      return wrong.load();
    }));
  auto store = open(where);
  for (uint64_t id = kOnce; id < kEntries; id += kOnce) {
    put_numbers(*store, id, id + kOnce);
    shared->acknowledged = id + kOnce;
  }
  shared->over = true;
  for (const pid_t reader : readers) CHECK(wait_for(reader) == 0);
  CHECK(shared->looked > 0);
  ::munmap(shared, sizeof(Shared));
  for (uint64_t id = 0; id < kEntries; ++id)
    if (!store->indexed(key_of(id))) FAIL(id);
}

TEST_CASE("keys that come and go for ever take no more room in the index") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  auto store = open(where);
  put_numbers(*store, 0, 1000);
  const auto size = std::filesystem::file_size(where / "index");
  for (uint64_t id = 1000; id < 9000; id += 200) {
    put_numbers(*store, id, id + 200);
    for (uint64_t old = id - 1000; old < id - 800; ++old) REQUIRE(store->remove(key_of(old)).value());
  }
  CHECK(std::filesystem::file_size(where / "index") <= size * 4);
  for (uint64_t id = 0; id < 8000; id += 7) CHECK_FALSE(store->indexed(key_of(id)));
  for (uint64_t id = 8000; id < 9000; ++id) CHECK(number_at(*store, id) == 1);
}

TEST_CASE("a store of many entries without its index: all is found while it is filled, what goes meanwhile is not") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  constexpr uint64_t kEntries = 60000;
  {
    auto store = open(where);
    for (uint64_t id = 0; id < kEntries; id += 1000) put_numbers(*store, id, id + 1000);
  }
  std::filesystem::remove(where / "index");
  auto store = open(where);
  auto other = open(where);
  // Rows that the filling has passed and rows that it has not.
  for (uint64_t id = 0; id < kEntries; id += 5000) {
    CHECK(number_at(*other, id) == 1);
    REQUIRE(store->remove(key_of(id)).value());
    REQUIRE(store->put(key_of(id + 1), {{"k", as_bytes("another")}}, kHere));
    CHECK(number_at(*other, id) == 0);
    CHECK(as_text(other->find(key_of(id + 1)).value()->part("k").value()) == "another");
    CHECK(number_at(*other, kEntries + id) == 0);
  }
  for (uint64_t id = 0; id < kEntries; ++id) {
    const int wanted = id % 5000 == 0 ? 0 : id % 5000 == 1 ? -1 : 1;
    if (number_at(*other, id) != wanted) FAIL(id);
  }
  for (uint64_t id = 2; id < kEntries; id += 5) CHECK(store->indexed(key_of(id)));
  // Full: a miss asks nobody any more.
  store.reset();
  other.reset();
  other = open(where);
  CHECK(number_at(*other, kEntries) == 0);
  CHECK_FALSE(test::database_is_open());
}

TEST_CASE("a find alone fills an index, and readers that may not write find all without one") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  constexpr uint64_t kEntries = 3000;
  {
    put_numbers(*open(where), 0, kEntries);
  }
  auto store = open(where);
  std::filesystem::remove(where / "index");
  StoreOptions options;
  options.read_only = true;
  auto reader = open(where, options);
  for (uint64_t id = 0; id < kEntries; id += 11) CHECK(number_at(*reader, id) == 1);
  CHECK_FALSE(std::filesystem::exists(where / "index"));
  store = open(where);
  for (uint64_t id = 0; id < kEntries; ++id)
    if (!store->indexed(key_of(id))) FAIL(id);
}

TEST_CASE("a writer that died between its commit and the index: the next one looks up what it noted, and no more") {
  // The first bytes of a record that was replaced are overwritten after the commit, before the index follows.
  class Dies : public FileLayer {
   public:
    ssize_t pwrite(int fd, const void* bytes, size_t count, off_t at) override {
      if (count == 4) ::_exit(7);
      return FileLayer::pwrite(fd, bytes, count, at);
    }
  };
  for (const size_t changed : {size_t{1}, size_t{2000}}) {
    CAPTURE(changed);
    TemporaryFolder folder;
    const auto where = folder / "s";
    constexpr uint64_t kEntries = 2500;
    {
      put_numbers(*open(where), 0, kEntries);
    }
    auto reader = open(where);
    CHECK(number_at(*reader, 5) == 1);
    CHECK(wait_for(spawn([&] {
            Dies files;
            StoreOptions options;
            options.files = &files;
            auto store = open(where, options);
            std::vector<Store::Put> puts;
            for (uint64_t id = 0; id < changed; ++id) puts.push_back({key_of(id), {{"k", as_bytes("new")}}, kHere});
            (void)store->put_all(puts);
            return 1;
          })) == 7);
    const auto is_new = [](Store& store, uint64_t id) {
      const auto found = store.find(key_of(id)).value();
      return found && as_text(found->part("k").value()) == "new";
    };
    const ino_t inode = inode_of(where / "index");
    for (uint64_t id = 0; id < kEntries; id += 3) {
      if (id < changed)
        CHECK(is_new(*reader, id));
      else
        CHECK(number_at(*reader, id) == 1);
    }
    CHECK_FALSE(reader->indexed(key_of(0)));
    auto store = open(where);
    for (uint64_t id = kEntries; id < kEntries + 4; ++id) put_numbers(*store, id, id + 1);
    for (uint64_t id = 0; id < kEntries; ++id)
      if (!reader->indexed(key_of(id))) FAIL(id);
    CHECK(inode_of(where / "index") == inode);
    for (uint64_t id = 0; id < changed; id += 7) CHECK(is_new(*reader, id));
    CHECK(number_at(*reader, kEntries + 10) == 0);
  }
}

TEST_CASE("any bit of the index' head or of its directory: right bytes or a miss, and all is found again") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  constexpr uint64_t kEntries = 40;
  auto store = open(where);
  put_numbers(*store, 0, kEntries);
  constexpr uint64_t kDirectory = 256 + 32, kEnd = kDirectory + 32;  // of four cells
  std::mt19937_64 random(3);
  for (uint64_t at = 0; at < kEnd; ++at) {
    if (at >= 64 && at < 128) continue;          // counters
    if (at >= 184 && at < kDirectory) continue;  // nothing is there yet
    const std::byte bit = std::byte{1} << static_cast<int>(random() % 8);
    const Bytes index = must_read(where / "index");
    CAPTURE(at);
    CAPTURE(static_cast<int>(bit));
    test::overwrite(where / "index", at, {index.at(at) ^ bit});
    auto other = random() % 2 == 0 ? open(where) : store;
    for (uint64_t id = 0; id < kEntries; ++id) CHECK(number_at(*other, id) >= 0);
    for (uint64_t id = 0; id < kEntries; ++id) {
      put_numbers(*other, id, id + 1);
      CHECK(number_at(*other, id) == 1);
    }
    for (uint64_t id = 0; id < kEntries; ++id) CHECK(number_at(*store, id) == 1);
  }
  CHECK(store->verify()->damage.empty());
}

TEST_CASE("filters of a large index that damage emptied or zeroed: right bytes or a miss, and what is put is found") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  constexpr uint64_t kEntries = 40000, kFilters = 33024, kSegment = 65536;
  auto store = open(where);
  for (uint64_t id = 0; id < kEntries; id += 1000) put_numbers(*store, id, id + 1000);
  const Bytes index = must_read(where / "index");
  const auto word = load_le<uint64_t>(index.data() + kFilters);
  const uint64_t filters = (word & UINT32_MAX) * kSegment;
  REQUIRE(filters != 0);
  REQUIRE(filters < index.size());
  for (uint64_t id = 0; id < kEntries; ++id) CHECK(number_at(*store, id) == 1);
  for (uint64_t id = kEntries; id < 2 * kEntries; id += 7) CHECK_FALSE(store->indexed(key_of(id)));

  // Zeros say that there is no filter; so does a word that leads elsewhere.
  test::overwrite(where / "index", filters, Bytes(kSegment));
  for (uint64_t id = 0; id < kEntries; ++id) CHECK(store->indexed(key_of(id)));
  test::overwrite(where / "index", filters,
                  Bytes(index.begin() + static_cast<std::ptrdiff_t>(filters),
                        index.begin() + static_cast<std::ptrdiff_t>(filters + kSegment)));
  Bytes elsewhere(8);
  store_le<uint64_t>(elsewhere.data(), word ^ 1);
  test::overwrite(where / "index", kFilters, elsewhere);
  for (uint64_t id = 0; id < kEntries; ++id) CHECK(store->indexed(key_of(id)));
  store_le<uint64_t>(elsewhere.data(), word);
  test::overwrite(where / "index", kFilters, elsewhere);

  // The worst: all words are those of filters without a key.
  Bytes none(kSegment);
  for (uint64_t at = 0; at < kSegment; at += 8) store_le<uint64_t>(none.data() + at, uint64_t{1} << 63);
  test::overwrite(where / "index", filters, none);
  uint64_t hidden = 0;
  for (uint64_t id = 0; id < kEntries; ++id) hidden += number_at(*store, id) == 0;
  CHECK(hidden > kEntries / 4);
  auto other = open(where);
  for (uint64_t id = 0; id < kEntries; id += 1000) put_numbers(*other, id, id + 1000);
  for (uint64_t id = 0; id < kEntries; ++id) CHECK(number_at(*store, id) == 1);
}

TEST_CASE("keys that come and go in a large index: misses stay misses, and all are found") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  constexpr uint64_t kEntries = 36000, kOnce = 1000;
  auto store = open(where);
  uint64_t end = 0;
  for (; end < kEntries; end += kOnce) put_numbers(*store, end, end + kOnce);
  auto other = open(where);
  for (uint64_t round = 0; round < 60; ++round, end += kOnce) {
    for (uint64_t id = end - kEntries; id < end - kEntries + kOnce; ++id) REQUIRE(store->remove(key_of(id)).value());
    put_numbers(*store, end, end + kOnce);
  }
  for (uint64_t id = 0; id < end - kEntries; ++id) CHECK_FALSE(other->indexed(key_of(id)));
  for (uint64_t id = end - kEntries; id < end; ++id) CHECK(number_at(*other, id) == 1);
}
