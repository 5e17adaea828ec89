// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model of damage: a random history of a store, a random damage to one or a few of its files, and what must hold
// then:
//   - a find is a miss or the bytes of the last acknowledged put under that key; after a power cut or damage to the log
//     of the database, of one of them;
//   - within three operations after it everything works again: a miss, a put, a find;
//   - a tag leads to its entry or to none;
//   - afterwards `verify` with dropping finds a sound store, and every entry is found by another process;
//   - nobody waits longer than is said, and no process ends.
// Most of the flipped bits are aimed at what leads from a key to its bytes: rows, cells of indexes, slots.
// In the history: removals, trims, a writer that is stopped in the middle, hours of a clock that was ahead, entries
// that the budget has no room for. SMELT_DAMAGE_ROUNDS and SMELT_DAMAGE_SEED choose how many and from where; a failure
// prints its seed. A third of a round is waiting, so SMELT_DAMAGE_AT_ONCE processes (2) run side by side. With
// `TMPDIR=/dev/shm taskset -c 0` and 3 of them, 100,000 rounds take one core about an hour.
#include "smelt/base/files.hpp"
#include "smelt/cache/file_layer.hpp"
#include "smelt/cache/store.hpp"

#include "entries.hpp"
#include "files.hpp"
#include "processes.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <ctime>
#include <deque>
#include <map>
#include <random>
#include <set>

using namespace smelt;
using namespace smelt::cache;
using test::key_of;
using test::must_read;
using test::payload;

namespace {

constexpr uint64_t kKeys = 40, kFresh = 5;
constexpr uint64_t kBudget = uint64_t{4} << 20;
constexpr std::chrono::milliseconds kWriterWait{400};

class SometimesBad : public FileLayer {
 public:
  std::set<uint64_t> bad;  // sectors of 4096 bytes of any pack
  ssize_t pread(int fd, void* bytes, size_t count, off_t at) override {
    const auto first = static_cast<uint64_t>(at) / 4096, last = (static_cast<uint64_t>(at) + count) / 4096;
    if (const auto found = bad.lower_bound(first); found != bad.end() && *found <= last) return errno = EIO, -1;
    return FileLayer::pread(fd, bytes, count, at);
  }
};

/// Keys share bytes: a third of the numbers have the same.
Bytes bytes_of(uint64_t id, uint64_t version) {
  const uint64_t content = id % 3 == 0 ? 7 + version % 2 : id * 1000 + version;
  return payload(content, 20 + content * 7919 % 2600);
}

class Round {
 public:
  Round(uint64_t seed, const std::filesystem::path& where) : random_(seed), where_(where) {}

  /// Says what is wrong; empty when nothing is.
  std::string run() {
    reopen();
    for (uint64_t id = 0; id < kKeys; ++id) change(id);
    history(pick(30));
    if (pick(4) == 0) clock_was_ahead();
    if (wrong_.empty() && pick(8) == 0) put_too_much();
    if (wrong_.empty() && pick(25) == 0) writer_is_stopped();
    if (!wrong_.empty()) return wrong_;
    if (pick(2) == 0) {
      first_.reset();
      second_.reset();
      if (pick(2) == 0) test::execute(where_ / "store.db", "PRAGMA wal_checkpoint(TRUNCATE)");
      snapshot();
      reopen();
      history(1 + pick(30));
    }
    damage();
    if (!first_) reopen();
    for (int round = 0; round < 2 && wrong_.empty(); ++round) {
      for (uint64_t id = 0; id < kKeys && wrong_.empty(); ++id) recover(id, pick(2) == 0 ? *first_ : *second_);
      look_at_tags(*first_);
    }
    files_.bad.clear();
    finish();
    return wrong_;
  }

 private:
  uint64_t pick(uint64_t below) { return random_() % below; }

  void reopen() {
    StoreOptions options;
    options.files = &files_;
    options.writer_wait = kWriterWait;
    options.max_bytes = kBudget;
    options.segment_bytes = 32768;
    for (auto* store : {&first_, &second_}) {
      store->reset();
      auto opened = Store::open(where_, options);
      for (int attempt = 0; attempt < 2 && !opened; ++attempt) opened = Store::open(where_, options);
      if (!opened)
        wrong_ = "open: " + opened.error().message;
      else
        *store = *opened;
    }
  }

  Result<void> put(Store& store, uint64_t id, uint64_t version) {
    const Bytes bytes = bytes_of(id, version);
    return store.put(key_of(id), {{"k", bytes}, {"v", as_bytes(std::to_string(version))}},
                     signing::Provenance::made_here());
  }

  void change(uint64_t id) {
    const uint64_t version = ++versions_;
    if (first_ && put(*first_, id, version)) acknowledged_[id].push_back(version);
  }

  void history(uint64_t steps) {
    for (uint64_t i = 0; i < steps && first_ && second_; ++i) {
      const uint64_t id = pick(kKeys);
      Store& store = pick(2) == 0 ? *first_ : *second_;
      switch (pick(8)) {
        case 0:
          if (store.remove(key_of(id)).value_or(false)) acknowledged_[id].push_back(0);
          break;
        case 1: {
          const std::string name(1, static_cast<char>('a' + pick(3)));
          if (acknowledged_[id].empty() || acknowledged_[id].back() == 0) break;
          if (store.tag(name, "1", key_of(id), true)) tags_[name].push_back(key_of(id));
          break;
        }
        case 2:
          (void)store.trim(40000);
          break;
        case 3:
        case 4:
          change(id);
          break;
        default:
          find(store, id);
      }
    }
  }

  /// All that is there was used by a clock ten years ahead. What is used today outlives a trim that takes most of it.
  void clock_was_ahead() {
    first_.reset();
    second_.reset();
    test::execute(where_ / "store.db", "UPDATE entry SET used=used+87600, created=created+315360000");
    std::filesystem::remove(where_ / "index");
    reopen();
    if (!wrong_.empty()) return;
    const auto entries = first_->list().value();
    for (const EntryInfo& entry : entries)
      if (entry.used_hour > static_cast<uint64_t>(::time(nullptr)) / 3600) wrong_ = "clock: an hour that has not come";
    for (uint64_t id = 0; id < kFresh; ++id) change(id);
    const uint64_t live = first_->stat()->live_bytes;
    const auto report = first_->trim(live * 3 / 4);
    // Where tagged entries and those of today are most of it, there is nothing else to take.
    if (!report || live < 45000 || report->bytes_tagged > live / 3) return;
    for (uint64_t id = 0; id < kFresh && wrong_.empty(); ++id)
      if (find(*first_, id) == 0)
        wrong_ = fmt::format("clock: key {} of today went before what was used in ten years", id);
  }

  void put_too_much() {
    std::set<uint64_t> there;
    for (uint64_t id = 0; id < kKeys; ++id)
      if (find(*first_, id) == 1) there.insert(id);
    const Bytes large(kBudget - kBudget / 20, std::byte{7});
    if (first_->put(key_of(kKeys), {{"k", large}}, signing::Provenance::made_here()))
      wrong_ = "too much: an entry larger than what stays was taken";
    for (const uint64_t id : there)
      if (wrong_.empty() && find(*first_, id) != 1) wrong_ = fmt::format("too much: key {} went for it", id);
  }

  /// A process that holds the writer's lock and does not go on: puts fail in time, finds go on, then all works.
  void writer_is_stopped() {
    const pid_t holder = test::spawn_stopped_writer(where_);
    // A watch of its own: what waits without end says nothing.
    ::alarm(60);
    const auto start = std::chrono::steady_clock::now();
    for (uint64_t id = 0; id < 3; ++id)
      if (put(*first_, id, ++versions_)) wrong_ = "stopped: a put went past the writer";
    for (uint64_t id = 0; id < kKeys; ++id) find(*second_, id);
    if (std::chrono::steady_clock::now() - start > 20 * kWriterWait + std::chrono::seconds(10))
      wrong_ = "stopped: they waited longer than is said";
    ::alarm(0);
    ::kill(holder, SIGKILL);
    test::wait_for(holder);
    for (uint64_t id = 0; id < kKeys && wrong_.empty(); ++id) recover(id, *first_);
  }

  /// 0: a miss, 1: what is wanted, -1: an error, -2: wrong bytes.
  int find(Store& store, uint64_t id) {
    const auto found = store.find(key_of(id));
    if (!found) return -1;
    if (!*found) return 0;
    const auto bytes = (*found)->part("k"), number = (*found)->part("v");
    uint64_t version = 0;
    if (number) std::from_chars(as_text(*number).data(), as_text(*number).data() + number->size(), version);
    const Bytes wanted = bytes_of(id, version);
    const auto& known = acknowledged_[id];
    const bool put_once = std::find(known.begin(), known.end(), version) != known.end();
    const bool allowed = !known.empty() && version != 0 && (reverted_ ? put_once : known.back() == version);
    if (bytes && std::equal(bytes->begin(), bytes->end(), wanted.begin(), wanted.end()) && allowed) return 1;
    wrong_ = fmt::format("key {}: version {} was found where {} was put last; {}", id, version,
                         known.empty() ? 0 : known.back(), what_);
    return -2;
  }

  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(where_))
      if (entry.is_regular_file()) found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
  }

  void snapshot() {
    for (const auto& file : files()) before_[file] = must_read(file);
  }

  /// The system writes pages back in any order: each file is as it is now or as it was.
  void revert_some() {
    for (const auto& [file, bytes] : before_)
      if (pick(2) == 0 && std::filesystem::exists(file.parent_path())) (void)write_file(file, bytes);
    std::filesystem::remove(where_ / "store.db-shm");
    std::filesystem::remove(where_ / "index");  // of another boot
    reverted_ = true;
  }

  /// One bit of a row, of a cell of an index, or of a slot: of a key, or of bytes that many keys share, or of what
  /// follows it. False: it is not there.
  bool aim(bool live) {
    const auto file = where_ / (live || pick(4) == 0 ? "index" : "store.db");
    if (!std::filesystem::exists(file)) return false;
    const uint64_t id = pick(kKeys);
    const Digest digest = pick(3) == 0 ? key_of(id) : sha256(bytes_of(0, pick(2)));
    const Bytes bytes = must_read(file);
    const std::vector<uint64_t> places = test::places_of(bytes, digest.bytes);
    if (places.empty()) return false;
    // The number of its row follows a key in a cell, and its place follows it in a row or a slot.
    const uint64_t at = places[pick(places.size())] + (pick(6) == 0 ? pick(32) : 32 + pick(pick(4) == 0 ? 24 : 1));
    if (at >= bytes.size()) return false;
    const uint64_t bit = pick(8);
    test::overwrite(file, at, {bytes[at] ^ std::byte{1} << static_cast<int>(bit)});
    what_ = fmt::format("{}, bit {} of byte {}, aimed{}", file.filename().string(), bit, at, live ? ", open" : "");
    return true;
  }

  void damage() {
    const uint64_t kind = pick(before_.empty() ? 8 : 9);
    if (kind == 7) {
      for (int i = 0; i < 20; ++i) files_.bad.insert(pick(24));
      what_ = "bad sectors";
      if (pick(2) == 0) reopen();
      return;
    }
    // SQLite's files are not touched while this process has them open: that would give up its locks.
    const bool live = kind < 7 && pick(3) == 0;
    if (!live) {
      first_.reset();
      second_.reset();
      if (pick(2) == 0) test::execute(where_ / "store.db", "PRAGMA wal_checkpoint(TRUNCATE)");
    }
    if (kind == 8) {
      what_ = "a power cut";
      return revert_some();
    }
    std::vector<std::filesystem::path> all = files();
    std::erase_if(all, [&](const auto& file) {
      const std::string name = file.filename().string();
      return name == "store.db-shm" || name == "locks" || (live && (name == "store.db" || name == "store.db-wal"));
    });
    if (kind < 4 && pick(8) != 0 && aim(live)) return;
    const auto file = pick(2) == 0 && !live ? where_ / "store.db" : all[pick(all.size())];
    const uint64_t size = std::filesystem::file_size(file);
    what_ = fmt::format("{} of {} bytes, damage {}{}", file.filename().string(), size, kind, live ? ", open" : "");
    // SQLite takes its log for shorter then: the newest transactions are gone, as after a power cut.
    reverted_ = file.filename() == "store.db-wal";
    if (size == 0) return;
    const auto at_random = [&](uint64_t bytes) { return pick(size - std::min(bytes, size - 1)); };
    switch (kind) {
      case 0:
      case 1:
      case 2:
      case 3:
        for (uint64_t flips = kind == 3 ? 8 : 1; flips > 0; --flips) {
          const uint64_t at = at_random(1);
          test::overwrite(file, at, {must_read(file).at(at) ^ std::byte{1} << static_cast<int>(pick(8))});
        }
        break;
      case 4: {
        const uint64_t at = at_random(1) / 1024 * 1024;
        test::overwrite(file, at, Bytes(std::min<uint64_t>(1024, size - at)));
        break;
      }
      case 5:
        std::filesystem::resize_file(file, pick(3) == 0 ? 0 : at_random(1));
        break;
      default:
        std::filesystem::remove(file);
    }
  }

  /// A find, a put, a find: at most the first two may fail.
  void recover(uint64_t id, Store& store) {
    const auto start = std::chrono::steady_clock::now();
    find(store, id);
    const uint64_t version = ++versions_;
    auto done = put(store, id, version);
    for (int attempt = 0; attempt < 2 && !done; ++attempt) done = put(store, id, version);
    if (!done) {
      if (files_.bad.empty()) wrong_ = fmt::format("key {}: {}; {}", id, done.error().message, what_);
      return;
    }
    acknowledged_[id].push_back(version);
    if (files_.bad.empty() && wrong_.empty() && find(store, id) != 1 && wrong_.empty())
      wrong_ = fmt::format("key {}: a put is not found; {}", id, what_);
    if (std::chrono::steady_clock::now() - start > std::chrono::seconds(30))
      wrong_ = fmt::format("key {}: took longer than 30 s; {}", id, what_);
  }

  void look_at_tags(Store& store) {
    for (const auto& [name, keys] : tags_) {
      const auto found = store.resolve(name + "@1");
      if (!found) continue;
      const bool once = std::find(keys.begin(), keys.end(), found->front().key) != keys.end();
      if (reverted_ ? !once : found->front().key != keys.back())
        wrong_ = fmt::format("tag {} leads elsewhere; {}", name, what_);
    }
  }

  void finish() {
    if (!wrong_.empty()) return;
    auto dropped = first_->verify(OnDamage::drop);
    if (!dropped) {
      wrong_ = fmt::format("verify: {}; {}", dropped.error().message, what_);
      return;
    }
    for (uint64_t id = 0; id < kKeys && wrong_.empty(); ++id) recover(id, *first_);
    if (!wrong_.empty()) return;
    reopen();
    for (uint64_t id = 0; id < kKeys && wrong_.empty(); ++id)
      if (find(*first_, id) != 1 && wrong_.empty())
        wrong_ = fmt::format("key {}: not found by the next process; {}", id, what_);
    if (!wrong_.empty()) return;
    const auto report = first_->verify();
    if (!report || !report->damage.empty())
      wrong_ = fmt::format("not sound: {}; {}", report ? report->damage.front() : report.error().message, what_);
  }

  std::mt19937_64 random_;
  std::filesystem::path where_;
  SometimesBad files_;
  std::shared_ptr<Store> first_, second_;
  uint64_t versions_ = 0;
  std::map<uint64_t, std::vector<uint64_t>> acknowledged_;  // versions, 0 for a removal
  std::map<std::string, std::vector<Digest>> tags_;
  std::map<std::filesystem::path, Bytes> before_;
  bool reverted_ = false;
  std::string what_, wrong_;
};

uint64_t number(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text != 0 ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

TEST_CASE("a model of damage: hundreds of random histories, each with a damage of its own") {
  const uint64_t rounds = number("SMELT_DAMAGE_ROUNDS", 500), first = number("SMELT_DAMAGE_SEED", 1);
  const uint64_t at_once = std::max<uint64_t>(number("SMELT_DAMAGE_AT_ONCE", 2), 1);
  constexpr uint64_t kInOne = 25;  // process, as a round may end it
  struct Child {
    pid_t process;
    uint64_t first, last;
  };
  std::deque<Child> running;
  uint64_t wrong = 0;
  const auto wait_for_oldest = [&] {
    const Child child = running.front();
    running.pop_front();
    const int status = test::wait_for(child.process);
    if (status == 0) return;
    ++wrong;
    std::fprintf(stderr, "seeds %lu to %lu: status %d\n", child.first, child.last - 1, status);
  };
  for (uint64_t seed = first; seed < first + rounds; seed += kInOne) {
    const uint64_t last = std::min(seed + kInOne, first + rounds);
    while (running.size() >= at_once) wait_for_oldest();
    const pid_t process = test::spawn([&] {
      int found = 0;
      for (uint64_t one = seed; one < last; ++one) {
        test::TemporaryFolder folder;
        const std::string what = Round(one, folder / "s").run();
        if (what.empty()) continue;
        std::fprintf(stderr, "SMELT_DAMAGE_SEED=%lu: %s\n", one, what.c_str());
        ++found;
      }
      return found;
    });
    running.push_back({process, seed, last});
  }
  while (!running.empty()) wait_for_oldest();
  CHECK(wrong == 0);
}
