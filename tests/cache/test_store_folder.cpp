// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The folder under a store: foreign ones are left alone, replaced ones are noticed, full disks can be trimmed.
#include "smelt/base/files.hpp"
#include "smelt/cache/store.hpp"

#include "entries.hpp"
#include "files.hpp"
#include "processes.hpp"
#include "skips.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <map>
#include <mutex>
#include <set>
#include <thread>

using namespace smelt;
using namespace smelt::cache;
using test::check;
using test::check_bytes;
using test::key_of;
using test::must_read;
using test::open;
using test::put;
using test::spawn;
using test::TemporaryFolder;
using test::wait_for;

namespace {

/// Every file below, with its bytes.
std::map<std::string, Bytes> snapshot(const std::filesystem::path& folder) {
  std::map<std::string, Bytes> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    files[entry.path().string()] = entry.is_regular_file() ? must_read(entry.path()) : Bytes();
  return files;
}

void write(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  REQUIRE(write_file(path, as_bytes(text)));
}

/// Longer than a find may go on without looking at its folder.
void let_it_look() {
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
}

}  // namespace

TEST_CASE("somebody's folder is refused with one error, and nothing in it is touched") {
  const std::vector<std::vector<std::pair<std::string, std::string>>> foreign = {
      {{"letter.txt", "dear"}},
      {{"index", "mine"}},
      {{"packs/000001.pack", "mine too"}, {"packs/000002.pack", "and this"}},  // a git repository has such folders
      {{"store.db", "SQLite format 3"}},
      {{"locks", "not empty"}},
      {{"CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"}, {"other/cache", "x"}},
      {{"smelt-store", "smelt stores are nice\n"}, {"a", "b"}},
  };
  for (const auto& files : foreign) {
    TemporaryFolder folder;
    const auto where = folder / "theirs";
    for (const auto& [name, text] : files) write(where / name, text);
    std::filesystem::permissions(where, std::filesystem::perms::owner_all);
    CAPTURE(files[0].first);
    const auto before = snapshot(where);
    for (const bool read_only : {false, true}) {
      StoreOptions options;
      options.read_only = read_only;
      const auto refused = Store::open(where, options);
      REQUIRE_FALSE(refused);
      CHECK(refused.error().code == Errc::invalid_argument);
      CHECK(refused.error().message.find("not a smelt store") != std::string::npos);
      CHECK(refused.error().message.find(where.string()) != std::string::npos);
    }
    CHECK(snapshot(where) == before);
  }
  CHECK_FALSE(Store::open("/"));
  CHECK_FALSE(Store::open("/proc/self"));
}

TEST_CASE("empty folders become stores; stores from before the marker are known by what they hold") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  for (const char* there : {"", "metal-headers", "lost+found", "packs"}) {
    std::filesystem::remove_all(where);
    std::filesystem::create_directories(where / there);
    std::filesystem::permissions(where, std::filesystem::perms::owner_all);
    auto store = open(where);
    REQUIRE(put(*store, 1));
  }
  // Whoever made it died before anything was in it.
  for (const char* begun : {"locks", "locks.1f", "store.db", "reserve"}) {
    CAPTURE(begun);
    const auto half = folder / ("half-" + std::string(begun));
    std::filesystem::create_directories(half);
    std::filesystem::permissions(half, std::filesystem::perms::owner_all);
    write(half / begun, "");
    CHECK(put(*open(half), 1));
    if (std::string_view(begun) == "store.db") continue;  // what is in it says whose it is
    std::filesystem::remove_all(half);
    std::filesystem::create_directories(half);
    write(half / begun, "mine");
    CHECK_FALSE(Store::open(half));
  }
  CHECK(as_text(must_read(where / "CACHEDIR.TAG")).substr(0, 43) == "Signature: 8a477f597d28d172789f06886806bc55");
  CHECK(as_text(must_read(where / "smelt-store")).substr(0, 12) == "smelt store\n");
  // With other files beside it a store stays a store.
  write(where / "note.txt", "mine");
  for (const char* known_by : {"store.db", "index", "smelt-store"}) {
    CAPTURE(known_by);
    const auto copy = folder / known_by;
    std::filesystem::copy(where, copy, std::filesystem::copy_options::recursive);
    std::filesystem::permissions(copy, std::filesystem::perms::owner_all);
    for (const char* other : {"store.db", "store.db-wal", "store.db-shm", "index", "smelt-store", "CACHEDIR.TAG"})
      if (std::string_view(other).substr(0, 8) != std::string_view(known_by).substr(0, 8))
        std::filesystem::remove(copy / other);
    auto store = open(copy);
    REQUIRE(put(*store, 2));
    CHECK(check(*store, 2) == 1);
    CHECK(check(*store, 1) == (std::string_view(known_by) == "store.db" ? 1 : 0));
  }
}

TEST_CASE("a folder or database deleted and made again under an open store: later puts and finds are of the new one") {
  for (const std::string what : {"folder", "database", "folder gone", "database gone", "locks"}) {
    CAPTURE(what);
    TemporaryFolder folder;
    const auto where = folder / "s";
    int warnings = 0;
    StoreOptions options;
    options.warn = [&](std::string_view text) {
      ++warnings;
      CHECK(text.find("replaced or deleted") != std::string_view::npos);
    };
    auto store = open(where, options);
    REQUIRE(put(*store, 1));
    REQUIRE(put(*store, 2));
    CHECK(check(*store, 1) == 1);
    if (what.starts_with("folder"))
      std::filesystem::rename(where, folder / "old");
    else if (what.starts_with("database"))
      for (const char* name : {"store.db", "store.db-wal", "store.db-shm"}) std::filesystem::remove(where / name);
    else
      std::filesystem::remove(where / "locks");
    if (!what.ends_with("gone")) {
      auto fresh = open(where);
      REQUIRE(put(*fresh, 50));  // lies where entry 1 lay
      let_it_look();
      CHECK(check(*store, 50) == 1);
    }
    for (uint64_t id = 3; id < 20; ++id) {
      REQUIRE(put(*store, id));
      CHECK(check(*store, id) == 1);
    }
    CHECK(warnings == 1);
    CHECK(check(*store, 1) == (what == "locks" ? 1 : 0));
    CHECK(wait_for(spawn([&] {
            auto other = Store::open(where);
            for (uint64_t id = 3; id < 20; ++id)
              if (!other || check(**other, id) != 1) return 1;
            return 0;
          })) == 0);
    CHECK(store->verify()->damage.empty());
  }
}

TEST_CASE("a store of some, deleted again and again while others write: every acknowledged put is there or was") {
  // What is acknowledged after the last deletion must be found; before it, a put may land in a folder that then goes.
  TemporaryFolder folder;
  const auto where = folder / "s";
  open(where);
  std::atomic<bool> stop{false};
  std::atomic<int> failed{0}, lost{0}, wrong{0};
  std::mutex mutex;
  std::set<std::string> errors;
  std::vector<std::thread> writers;
  for (uint64_t writer = 0; writer < 3; ++writer)
    writers.emplace_back([&, writer] {
      auto store = open(where);
      for (uint64_t i = 0; !stop; ++i) {
        if (const auto done = put(*store, writer * 100000 + i); !done) {
          ++failed;
          std::lock_guard lock(mutex);
          errors.insert(done.error().message);
        }
        const uint64_t id = writer * 100000 + i % 50;
        const auto found = store->find(key_of(id));
        if (found && *found && check_bytes(**found, id) != 1) ++wrong;
      }
      for (uint64_t i = 0; i < 30; ++i)
        if (!put(*store, 1000000 + writer * 100 + i)) ++lost;
    });
  for (int round = 0; round < 12; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(15));
    std::error_code not_there_yet;
    std::filesystem::rename(where, folder / std::to_string(round), not_there_yet);
  }
  stop = true;
  for (auto& writer : writers) writer.join();
  CHECK(wrong == 0);
  auto store = open(where);
  uint64_t found = 0;
  for (uint64_t writer = 0; writer < 3; ++writer)
    for (uint64_t i = 0; i < 30; ++i) found += check(*store, 1000000 + writer * 100 + i) == 1;
  CHECK(lost == 0);
  CHECK(found == 90);
  for (const std::string& error : errors) MESSAGE(error);
  MESSAGE(failed.load(), " puts were refused while folders were swapped");
  CHECK(store->verify()->damage.empty());
}

TEST_CASE("a trim removes what others left: half-made files, databases that were set aside, packs of nobody") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  auto store = open(where);
  for (uint64_t id = 0; id < 20; ++id) REQUIRE(put(*store, id));
  for (const char* name : {"index.12345", "secret.7", "store.db.damaged-1", "store.db.damaged-1-wal"})
    write(where / name, std::string(100000, 'x'));
  write(where / "packs/000000.pack", "x");
  write(where / "metal-headers/kept", "x");
  REQUIRE(store->trim(1 << 30));
  for (const char* name :
       {"index.12345", "secret.7", "store.db.damaged-1", "store.db.damaged-1-wal", "packs/000000.pack"})
    CHECK_FALSE(std::filesystem::exists(where / name));
  CHECK(std::filesystem::exists(where / "metal-headers/kept"));
  for (uint64_t id = 0; id < 20; ++id) CHECK(check(*store, id) == 1);
}

TEST_CASE("the tables of many small entries count in the budget") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  StoreOptions options;
  options.max_bytes = 12 << 20;
  auto store = open(where, options);
  for (uint64_t first = 0; first < 40000; first += 500) {
    std::vector<Store::Put> puts;
    for (uint64_t id = first; id < first + 500; ++id)
      puts.push_back({key_of(id), {{"k", as_bytes("small")}}, signing::Provenance::made_here()});
    REQUIRE(store->put_all(puts));
  }
  uint64_t on_disk = 0;
  for (const auto& [file, bytes] : snapshot(where))
    if (!file.ends_with("-wal") && !file.ends_with("reserve") && !file.ends_with("index")) on_disk += bytes.size();
  CHECK(on_disk < options.max_bytes * 11 / 10 + (2 << 20));
  CHECK(store->find(key_of(39999)).value().has_value());
  CHECK(store->counters().evicted > 1000);
}

TEST_CASE("a full disk: puts fail, finds go on, and a trim makes room") {
  TemporaryFolder folder;
  const auto disk = folder / "disk";
  std::filesystem::create_directories(disk);
  const int status = wait_for(spawn([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=12m") != 0)
      return 77;
    const auto where = disk / "s";
    uint64_t stored = 0;
    {
      auto store = Store::open(where);
      if (!store) return 1;
      if (!put(**store, 0) || !(*store)->tag("keep", "1", key_of(0))) return 2;
      for (stored = 1; stored < 2000; ++stored)
        if (const auto done = put(**store, stored); !done) {
          if (done.error().message.find("space") == std::string::npos &&
              done.error().message.find("full") == std::string::npos)
            return 3;
          break;
        }
      if (stored == 2000) return 4;
    }
    // Not a byte is left, as when another program fills the disk.
    const int fill = ::open((disk / "fill").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const Bytes block(4096);
    while (::write(fill, block.data(), block.size()) > 0) {
    }
    ::close(fill);
    auto store = Store::open(where);
    if (!store) return 5;
    if (put(**store, 5000)) return 6;
    for (uint64_t id = 0; id < stored; ++id)
      if (check(**store, id) != 1) return 7;
    store->reset();
    store = Store::open(where);
    if (!store) return 8;
    const auto report = (*store)->trim(2 << 20);
    if (!report) {
      std::fprintf(stderr, "trim: %s\n", report.error().message.c_str());
      return 9;
    }
    if (report->entries_removed == 0 || report->bytes_after > 2 << 20) {
      std::fprintf(stderr, "trim: %lu removed, %lu before, %lu after\n", report->entries_removed, report->bytes_before,
                   report->bytes_after);
      return 10;
    }
    for (uint64_t id = 6000; id < 6020; ++id)
      if (!put(**store, id) || check(**store, id) != 1) return 11;
    if (check(**store, 0) != 1) return 12;
    for (uint64_t id = 0; id < stored; ++id)
      if (check(**store, id) < 0) return 13;
    return (*store)->verify()->damage.empty() ? 0 : 14;
  }));
  if (status == 77)
    smelt::test::skipped("a small disk of its own needs the right to mount");
  else
    CHECK(status == 0);
}
