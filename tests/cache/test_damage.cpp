// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Damage to the files of a store, one kind at a time: a find is a miss or the bytes that were put, and what is damaged
// is mended by who meets it.
#include "smelt/base/files.hpp"
#include "smelt/cache/file_layer.hpp"
#include "smelt/cache/flight.hpp"
#include "smelt/cache/store.hpp"

#include "entries.hpp"
#include "files.hpp"
#include "processes.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <mutex>

using namespace smelt;
using namespace smelt::cache;
using test::check;
using test::execute;
using test::key_of;
using test::must_read;
using test::open;
using test::overwrite;
using test::places_of;
using test::put;
using test::spawn;
using test::TemporaryFolder;
using test::wait_for;

namespace {

const signing::Provenance kHere = signing::Provenance::made_here();

Bytes all_of(char letter, size_t size = 3000) {
  return Bytes(size, static_cast<std::byte>(letter));
}

Result<void> put_letters(Store& store, uint64_t id, const Bytes& bytes) {
  return store.put(key_of(id), {{"k", bytes}}, kHere);
}

/// The first letter of what is there, '-' when nothing is, '!' on an error.
char letter_of(Store& store, uint64_t id) {
  const auto found = store.find(key_of(id));
  if (!found) return '!';
  return *found ? static_cast<char>((*found)->part("k").value()[0]) : '-';
}

/// All of the database in its own file, none in its log.
void checkpoint(const std::filesystem::path& store) {
  execute(store / "store.db", "PRAGMA wal_checkpoint(TRUNCATE)");
}

/// Reads of packs fail while it is `bad`, as on a bad sector.
class BadSectors : public FileLayer {
 public:
  std::atomic<bool> bad{false};
  ssize_t pread(int fd, void* bytes, size_t count, off_t at) override {
    if (bad) return errno = EIO, -1;
    return FileLayer::pread(fd, bytes, count, at);
  }
};

class Warnings {
 public:
  std::function<void(std::string_view)> take() {
    return [this](std::string_view text) {
      const std::lock_guard lock(mutex_);
      all_ += std::string(text) + "\n";
    };
  }
  bool have(std::string_view text) const {
    const std::lock_guard lock(mutex_);
    return all_.find(text) != std::string::npos;
  }

 private:
  mutable std::mutex mutex_;
  std::string all_;
};

}  // namespace

TEST_CASE("an index of the database that leads to another blob: the put is found, as it was put") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  {
    auto store = open(where);
    REQUIRE(put_letters(*store, 0, all_of('C')));
    REQUIRE(put_letters(*store, 1, all_of('B')));
    REQUIRE(put_letters(*store, 2, all_of('A')));
  }
  checkpoint(where);
  // In the index of blob.sha256 a cell is the hash, then the row: 3, and 2 after one bit.
  const Digest sha = sha256(all_of('A'));
  size_t flipped = 0;
  for (const uint64_t at : places_of(must_read(where / "store.db"), sha.bytes))
    if (must_read(where / "store.db").at(at + 32) == std::byte{3}) {
      overwrite(where / "store.db", at + 32, {std::byte{2}});
      ++flipped;
    }
  REQUIRE(flipped == 1);
  Warnings warnings;
  StoreOptions options;
  options.warn = warnings.take();
  {
    auto store = open(where, options);
    REQUIRE(put_letters(*store, 3, all_of('A')));
    CHECK(letter_of(*store, 3) == 'A');
    CHECK(warnings.have("rebuilt from the packs"));
  }
  options.verify = Verify::always;
  auto store = open(where, options);
  CHECK(letter_of(*store, 3) == 'A');
  CHECK(letter_of(*store, 0) == 'C');
  CHECK(letter_of(*store, 1) == 'B');
  CHECK(letter_of(*store, 2) == 'A');
  CHECK(store->verify()->damage.empty());
}

TEST_CASE("an index of the database that leads to another entry is not believed") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  {
    auto store = open(where);
    for (uint64_t id = 0; id < 3; ++id) REQUIRE(put_letters(*store, id, all_of(static_cast<char>('A' + id))));
  }
  checkpoint(where);
  std::filesystem::remove(where / "index");
  size_t flipped = 0;
  for (const uint64_t at : places_of(must_read(where / "store.db"), key_of(2).bytes))
    if (must_read(where / "store.db").at(at + 32) == std::byte{3}) {
      overwrite(where / "store.db", at + 32, {std::byte{2}});
      ++flipped;
    }
  REQUIRE(flipped == 1);
  StoreOptions options;
  options.read_only = true;  // nothing can be mended
  CHECK(letter_of(*open(where, options), 2) == '!');
  auto store = open(where);
  CHECK(store->peek(key_of(2)).value()->part("k").value()[0] == std::byte{'C'});
  for (uint64_t id = 0; id < 3; ++id) CHECK(letter_of(*store, id) == static_cast<char>('A' + id));
}

TEST_CASE("a blob's row of another codec: verify finds it, and a put of the same bytes is found as it was put") {
  Bytes random = all_of('R');
  for (size_t i = 1; i < random.size(); ++i) random[i] = static_cast<std::byte>(i * i * 2654435761u >> 24);
  for (const int codec : {0, 1, 2, 7})
    for (const bool compress : {false, true}) {
      CAPTURE(codec);
      CAPTURE(compress);
      TemporaryFolder folder;
      const auto where = folder / "s";
      const auto keep = [&](Store& store, uint64_t id) {
        return store.put(key_of(id), {{"k", all_of('A'), compress}, {"r", random, compress}}, kHere);
      };
      REQUIRE(keep(*open(where), 0));
      checkpoint(where);
      execute(where / "store.db", fmt::format("UPDATE blob SET codec={}", codec));
      const auto report = open(where)->verify();
      REQUIRE(report);
      CHECK(report->damage.empty() == (codec == 0 && !compress));
      auto store = open(where);
      REQUIRE(keep(*store, 1));
      const auto found = store->find(key_of(1));
      REQUIRE((found && *found));
      CHECK((*found)->part("k").value()[0] == std::byte{'A'});
      CHECK((*found)->part("r").value()[0] == std::byte{'R'});
      CHECK(open(where)->verify()->damage.empty());
    }
}

TEST_CASE("one flipped bit of a tag: it leads to its entry, or to none") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  {
    auto store = open(where);
    uint64_t id = 0;
    for (const char* name : {"zzz", "aaa", "bbb"}) {
      REQUIRE(put_letters(*store, id, all_of(name[0])));
      REQUIRE(store->tag(name, "1.0.0", key_of(id++)));
    }
    REQUIRE(store->tag("bbb", "2.0.0", key_of(0)));
    REQUIRE(store->tag("bbb", "2.0.0", key_of(1), true));
  }
  checkpoint(where);
  const Bytes sound = must_read(where / "store.db");
  size_t mended = 0;
  for (const char* text : {"bbb1.0.0", "bbb2.0.0"})
    for (const uint64_t at : places_of(sound, as_bytes(text)))
      for (uint64_t bit = 0; bit < 12 * 8; ++bit) {
        for (const char* file : {"store.db-wal", "store.db-shm"}) std::filesystem::remove(where / file);
        Bytes damaged = sound;
        damaged[at + bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
        REQUIRE(write_file(where / "store.db", damaged));
        Warnings warnings;
        StoreOptions options;
        options.warn = warnings.take();
        auto store = open(where, options);
        const auto wanted = [&](const char* tag, uint64_t id) {
          const auto found = store->resolve(tag);
          return !found || found->front().key == key_of(id);
        };
        CHECK(wanted("bbb@1.0.0", 2));
        CHECK(wanted("bbb@2.0.0", 1));
        CHECK(wanted("aaa@1.0.0", 1));
        CHECK(wanted("zzz", 0));
        mended += warnings.have("rebuilt from the packs");
        store.reset();
        for (const auto& file : std::filesystem::directory_iterator(where))
          if (file.path().filename().string().starts_with("store.db.damaged-")) std::filesystem::remove(file.path());
      }
  CHECK(mended > 30);
}

TEST_CASE("a damaged record is not carried along by a trim with a checksum that fits it") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  StoreOptions options;
  options.max_bytes = 8 << 20;  // packs of 1 MB
  auto store = open(where, options);
  const Bytes part(400, std::byte{'p'});  // inside the record
  REQUIRE(store->put(key_of(5000), {{"k", part}}, kHere));
  REQUIRE(store->tag("kept", "1", key_of(5000)));
  for (uint64_t id = 0; id < 100; ++id) REQUIRE(put(*store, id));
  const auto packs = test::files_below(where / "packs", ".pack");
  for (const auto& pack : packs)
    for (const uint64_t at : places_of(must_read(pack), part)) overwrite(pack, at + 7, {std::byte{'q'}});
  REQUIRE(store->trim(100000));
  CHECK_FALSE(std::filesystem::exists(where / "packs/000001.pack"));
  store = open(where, options);
  CHECK(letter_of(*store, 5000) == '-');
}

TEST_CASE("a row that says too little of a pack: what others hold is not overwritten") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  auto store = open(where);
  for (uint64_t id = 0; id < 20; ++id) REQUIRE(put(*store, id));
  execute(where / "store.db", "UPDATE pack SET bytes=128,live=128");
  for (uint64_t id = 20; id < 40; ++id) REQUIRE(put(*store, id));
  auto other = open(where);
  for (uint64_t id = 0; id < 40; ++id) CHECK(check(*other, id) == 1);
  // More than there is, and more in use than there is: noticed by a trim.
  for (const char* row : {"bytes=1000000000", "live=1000000000"}) {
    execute(where / "store.db", std::string("UPDATE pack SET ") + row);
    REQUIRE(other->trim(uint64_t{1} << 40));
    CHECK(other->stat()->live_bytes <= other->stat()->pack_bytes);
    CHECK(other->stat()->pack_bytes < 10 << 20);
    for (uint64_t id = 0; id < 40; ++id) CHECK(check(*other, id) == 1);
  }
}

TEST_CASE("an index whose empty slots have bits of a live one: what is put is found") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  auto store = open(where);
  REQUIRE(put(*store, 0));
  constexpr uint64_t kHead = 65536, kSlot = 64, kState = 56;
  const Bytes index = must_read(where / "index");
  for (uint64_t at = kHead + kState; at < index.size(); at += 2 * kSlot)
    if (index[at] == std::byte{0}) overwrite(where / "index", at, {std::byte{4}});
  for (uint64_t id = 0; id < 100; ++id) {
    REQUIRE(put(*store, id));
    CHECK(check(*store, id) == 1);
  }
}

TEST_CASE("what was removed or replaced does not come back when a database is rebuilt from the packs") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  {
    auto store = open(where);
    for (uint64_t id = 0; id < 30; ++id) REQUIRE(put(*store, id));
    REQUIRE(store->tag("kept", "1.0", key_of(3)));
    REQUIRE(store->remove(key_of(4)).value());
    REQUIRE(put_letters(*store, 5, all_of('A')));
    REQUIRE(put_letters(*store, 5, all_of('B')));
  }
  std::filesystem::remove(where / "index");
  for (const char* file : {"store.db", "store.db-wal", "store.db-shm"})
    REQUIRE(write_file(where / file, as_bytes("not a database")));
  auto store = open(where);
  for (uint64_t id = 0; id < 30; ++id)
    if (id != 5) CHECK(check(*store, id) == (id == 4 ? 0 : 1));
  CHECK(letter_of(*store, 5) == 'B');
  CHECK(store->verify()->damage.empty());
  REQUIRE(put(*store, 4));
  CHECK(check(*store, 4) == 1);
}

TEST_CASE("bytes inside an entry that look like a record never become one") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  {
    auto store = open(where);
    REQUIRE(put(*store, 1));
  }
  // A pack of another store, whole, as a part.
  const Bytes pack = must_read(where / "packs/000001.pack");
  const auto other = folder / "t";
  {
    auto store = open(other);
    REQUIRE(put_letters(*store, 2, pack));
    REQUIRE(store->remove(key_of(2)).value());
  }
  std::filesystem::remove(other / "index");
  REQUIRE(write_file(other / "store.db", as_bytes("not a database")));
  auto store = open(other);
  CHECK(store->list()->empty());
}

TEST_CASE("a sector of a pack that cannot be read is a miss, for finds, bursts, trims and verify") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  constexpr uint64_t kEntries = 300;
  BadSectors files;
  StoreOptions options;
  options.files = &files;
  std::vector<Digest> keys;
  for (uint64_t id = 0; id < kEntries; ++id) {
    REQUIRE(put(*open(where, options), id));
    keys.push_back(key_of(id));
  }
  files.bad = true;
  options.read_only = true;
  auto store = open(where, options);
  const auto burst = store->find_all(keys);
  REQUIRE(burst);
  for (const auto& entry : *burst) CHECK_FALSE(entry);
  CHECK(check(*store, 7) == 0);
  CHECK(store->verify()->damaged_entries == kEntries);
  options.read_only = false;
  store = open(where, options);
  CHECK(check(*store, 7) == 0);
  CHECK(store->counters().damaged == 1);
  CHECK(store->verify(OnDamage::drop)->dropped == kEntries - 1);
  files.bad = false;
  for (uint64_t id = 0; id < kEntries; ++id) {
    REQUIRE(put(*store, id));
    CHECK(check(*store, id) == 1);
  }
}

TEST_CASE("files cut while a store is open end no program: packs, the index, what was found") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  CHECK(wait_for(spawn([&] {
          auto store = open(where);
          for (uint64_t id = 0; id < 200; ++id)
            if (!put(*store, id)) return 1;
          const auto held = store->find(key_of(150)).value();
          for (const char* file : {"index", "packs/000001.pack", "index"}) {
            for (const uint64_t size : {uint64_t{5000}, uint64_t{0}}) {
              std::filesystem::resize_file(where / file, size);
              if (test::check_bytes(*held, 150) != 1) return 2;
              for (uint64_t id = 0; id < 220; ++id)
                if (check(*store, id) < 0) return 3;
              for (uint64_t id = 0; id < 200; ++id)
                if (!put(*store, id) || check(*store, id) != 1) return 4;
              auto other = open(where);
              for (uint64_t id = 0; id < 200; ++id) {
                if (!other->indexed(key_of(id))) return std::fprintf(stderr, "%s %lu %lu\n", file, size, id), 5;
                if (check(*other, id) != 1) return std::fprintf(stderr, "%s %lu %lu\n", file, size, id), 7;
              }
              if (!other->verify()->damage.empty()) return 6;
            }
          }
          return 0;
        })) == 0);
}

TEST_CASE("a writer that is stopped holds nobody up for long, and who waits says so") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  REQUIRE(put(*open(where), 1));
  const pid_t holder = test::spawn_stopped_writer(where);
  Warnings warnings;
  StoreOptions options;
  options.warn = warnings.take();
  options.writer_wait = std::chrono::milliseconds(4000);
  ::alarm(300);  // what waits without end says nothing
  auto store = open(where, options);
  const auto seconds = [](const std::function<void()>& what) {
    const auto start = std::chrono::steady_clock::now();
    what();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const double first = seconds([&] {
    const auto refused = put(*store, 2);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Errc::store_locked);
    CHECK(refused.error().message.find("may be stopped") != std::string::npos);
  });
  CHECK(first >= 4);
  CHECK(warnings.have("waiting for it"));
  // The next ones do not wait as long again; a hit and a miss wait for nothing.
  CHECK(seconds([&] { CHECK_FALSE(put(*store, 2)); }) < first);
  CHECK(check(*store, 1) == 1);
  CHECK(check(*store, 3) == 0);
  ::alarm(0);
  REQUIRE(::kill(holder, SIGKILL) == 0);
  wait_for(holder);
  REQUIRE(put(*store, 2));
  CHECK(check(*store, 2) == 1);
  REQUIRE(put(*open(where), 3));
}

TEST_CASE("one that was stopped while it made a key is not waited for") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  open(where);
  int pipes[2];
  REQUIRE(::pipe(pipes) == 0);
  const pid_t holder = spawn([&] {
    const auto flight = Flight::acquire(where, key_of(1), std::chrono::seconds(1));
    if (!flight || !flight->held()) return 1;
    (void)!::write(pipes[1], "x", 1);
    ::pause();
    return 0;
  });
  char ready = 0;
  REQUIRE(::read(pipes[0], &ready, 1) == 1);
  std::atomic<int> told{0};
  {
    // As long as it runs it is waited for.
    const auto waited = Flight::acquire(where, key_of(1), std::chrono::milliseconds(6500), {}, [&] { ++told; });
    REQUIRE(waited);
    CHECK_FALSE(waited->held());
  }
  CHECK(told == 1);
  REQUIRE(::kill(holder, SIGSTOP) == 0);
  const auto start = std::chrono::steady_clock::now();
  const auto given_up = Flight::acquire(where, key_of(1), std::chrono::seconds(120));
  const auto took = std::chrono::steady_clock::now() - start;
  REQUIRE(given_up);
  CHECK_FALSE(given_up->held());
  CHECK(took >= Flight::kStopped);
  CHECK(took < std::chrono::seconds(60));
  REQUIRE(::kill(holder, SIGKILL) == 0);
  wait_for(holder);
  CHECK(Flight::acquire(where, key_of(1), std::chrono::seconds(1))->held());
  ::close(pipes[0]);
  ::close(pipes[1]);
}

TEST_CASE("a folder whose files lost their bytes in a power cut is started anew") {
  TemporaryFolder folder;
  for (const size_t size : {size_t{0}, size_t{100}, size_t{5000}}) {
    const auto where = folder / std::to_string(size);
    std::filesystem::create_directories(where / "packs");
    std::filesystem::permissions(where, std::filesystem::perms::owner_all);
    for (const char* name :
         {"smelt-store", "CACHEDIR.TAG", "store.db", "locks", "secret", "index", "packs/000001.pack"})
      REQUIRE(write_file(where / name, Bytes(size)));
    for (int life = 0; life < 2; ++life) {
      auto store = open(where);
      for (uint64_t id = 0; id < 20; ++id) {
        REQUIRE(put(*store, id));
        CHECK(check(*store, id) == 1);
      }
      CHECK(store->verify()->damage.empty());
    }
    CHECK(as_text(must_read(where / "smelt-store")).starts_with("smelt store\n"));
    CHECK(as_text(must_read(where / "CACHEDIR.TAG")).starts_with("Signature: "));
  }
}

TEST_CASE("an entry that the budget has no room for is refused by name, and pushes nothing out") {
  TemporaryFolder folder;
  StoreOptions options;
  options.max_bytes = 8 << 20;
  auto store = open(folder / "s", options);
  for (uint64_t id = 0; id < 100; ++id) REQUIRE(put(*store, id));
  const Bytes large(size_t{15} << 19, std::byte{1});
  const auto refused = put_letters(*store, 1000, large);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::invalid_argument);
  CHECK(refused.error().message.find(to_hex(key_of(1000))) != std::string::npos);
  CHECK(letter_of(*store, 1000) == '-');
  for (uint64_t id = 0; id < 100; ++id) CHECK(check(*store, id) == 1);
  REQUIRE(put_letters(*store, 1000, Bytes(3 << 20)));
  CHECK(letter_of(*store, 1000) == 0);
}

TEST_CASE("hours that a clock was ahead count for nothing") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  {
    auto store = open(where);
    for (uint64_t id = 0; id < 100; ++id) REQUIRE(put(*store, id));
  }
  execute(where / "store.db", "UPDATE entry SET used=used+87600, created=created+315360000 WHERE id<=50");
  std::filesystem::remove(where / "index");
  auto store = open(where);
  const auto entries = store->list().value();
  for (const EntryInfo& entry : entries) {
    CHECK(entry.used_hour <= static_cast<uint64_t>(::time(nullptr)) / 3600);
    CHECK(entry.created <= static_cast<uint64_t>(::time(nullptr)));
  }
  REQUIRE(store->trim(store->stat()->live_bytes * 6 / 10));
  uint64_t ahead = 0, others = 0;
  for (uint64_t id = 0; id < 100; ++id) (id < 50 ? ahead : others) += static_cast<uint64_t>(check(*store, id));
  CHECK(ahead < 10);
  CHECK(others == 50);
}

TEST_CASE("an index is kept when the clock is set, and not trusted after a boot") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  REQUIRE(put(*open(where), 1));
  const auto inode = [&] {
    struct stat status{};
    return ::stat((where / "index").c_str(), &status) == 0 ? status.st_ino : 0;
  };
  constexpr uint64_t kBootTime = 24, kBootId = 52;  // in the head of an index
  const auto shift = [&](uint64_t at, uint32_t by) {
    Bytes head = must_read(where / "index");
    Bytes changed(4);
    store_le<uint32_t>(changed.data(), load_le<uint32_t>(head.data() + at) + by);
    overwrite(where / "index", at, changed);
  };
  if (load_le<uint32_t>(must_read(where / "index").data() + kBootId) == 0) return;  // no such id here
  const auto before = inode();
  shift(kBootTime, 3600);
  CHECK(check(*open(where), 1) == 1);
  CHECK(inode() == before);
  shift(kBootId, 2);
  CHECK(check(*open(where), 1) == 1);
  CHECK(inode() != before);
}
