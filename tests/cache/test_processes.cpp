// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many processes on one store: killed, racing for one key, publishing at once, trimming under readers.
#include "smelt/base/platform.hpp"
#include "smelt/cache/file_layer.hpp"
#include "smelt/cache/flight.hpp"
#include "smelt/cache/store.hpp"

#include "entries.hpp"
#include "files.hpp"
#include "processes.hpp"
#include "skips.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>

#include <atomic>
#include <random>
#include <set>
#include <thread>

using namespace smelt;
using namespace smelt::cache;
using test::check;
using test::key_of;
using test::open;
using test::payload;
using test::put;
using test::spawn;
using test::TemporaryFolder;
using test::wait_for;

namespace {

// Counters that all children share.
struct Shared {
  std::atomic<int> compiles{0}, errors{0}, wrong{0}, ready{0};
  std::atomic<bool> stop{false}, go{false};
};

Shared& shared_page() {
  void* page = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED);
  return *new (page) Shared;
}

int rounds(const char* variable, int fallback) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : fallback;
}

}  // namespace

TEST_CASE("kill -9 at random points among writers and readers: no acknowledged entry lost or wrong") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  open(where);
  std::mt19937 random(12345);
  std::set<uint64_t> acknowledged;
  uint64_t next = 0;
  const int kills = rounds("SMELT_KILL_ROUNDS", 200);
  for (int round = 0; round < kills; ++round) {
    int pipes[2];
    REQUIRE(::pipe2(pipes, O_CLOEXEC) == 0);
    std::vector<pid_t> children;
    Shared& shared = shared_page();
    for (uint64_t writer = 0; writer < 4; ++writer)
      children.push_back(spawn([&] {
        auto store = Store::open(where);
        if (!store) return 1;
        for (uint64_t i = 0;; ++i) {
          const uint64_t id = next + i * 4 + writer;
          if (!put(**store, id)) return 1;
          if (::write(pipes[1], &id, sizeof id) != sizeof id) return 1;  // atomic: below PIPE_BUF
        }
      }));
    for (uint64_t reader = 0; reader < 4; ++reader)
      children.push_back(spawn([&] {
        auto store = Store::open(where);
        if (!store) {
          ++shared.errors;
          return 1;
        }
        std::mt19937 pick(static_cast<unsigned>(round * 4) + static_cast<unsigned>(reader));
        for (;;) {
          const int result = check(**store, pick() % (next + 40));
          if (result < 0) ++shared.errors;
        }
      }));
    // In most rounds somebody has put something, however slow the machine is; in the others they may be opening.
    if (round % 4 != 3) {
      struct pollfd first{pipes[0], POLLIN, 0};
      CHECK(::poll(&first, 1, 60000) == 1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(3 + random() % 30));
    for (const pid_t child : children) ::kill(child, SIGKILL);
    for (const pid_t child : children) CHECK(wait_for(child) == 1000 + SIGKILL);
    ::close(pipes[1]);
    for (uint64_t id = 0; ::read(pipes[0], &id, sizeof id) == sizeof id;) acknowledged.insert(id);
    ::close(pipes[0]);
    CHECK(shared.errors == 0);
    ::munmap(&shared, sizeof shared);
    if (!acknowledged.empty()) next = (*acknowledged.rbegin() / 4 + 2) * 4;
    auto store = open(where);
    // The newest are at risk; all are looked at every tenth round.
    uint64_t lost = 0, wrong = 0;
    auto from = round % 10 == 9 || round + 1 == kills ? acknowledged.begin()
                                                      : acknowledged.lower_bound(next > 200 ? next - 200 : 0);
    for (; from != acknowledged.end(); ++from) {
      const int result = check(*store, *from);
      lost += result == 0;
      wrong += result < 0;
    }
    CHECK(lost == 0);
    CHECK(wrong == 0);
    if (round % 20 == 19 || round + 1 == kills) CHECK(store->verify()->damage.empty());
  }
  MESSAGE(acknowledged.size(), " acknowledged entries over ", kills, " rounds");
  CHECK(acknowledged.size() >= static_cast<size_t>(kills) * 3 / 4);
}

TEST_CASE("16 processes, one missing key: one compile") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  open(where);
  Shared& shared = shared_page();
  constexpr auto kCompile = std::chrono::milliseconds(100);
  std::vector<pid_t> children;
  for (int i = 0; i < 16; ++i)
    children.push_back(spawn([&] {
      auto store = Store::open(where);
      if (!store) return 1;
      ++shared.ready;
      while (!shared.go) std::this_thread::sleep_for(std::chrono::microseconds(100));
      if (check(**store, 5) == 1) return 2;
      const auto ready = [&] { return (*store)->indexed(key_of(5)); };
      auto flight = Flight::acquire(where, key_of(5), std::chrono::seconds(20), ready);
      if (!flight || (!flight->held() && !ready())) return 3;
      if (check(**store, 5) == 0) {
        ++shared.compiles;
        std::this_thread::sleep_for(kCompile);
        if (!put(**store, 5)) return 4;
      }
      return check(**store, 5) == 1 ? 0 : 5;
    }));
  while (shared.ready < 16) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto start = std::chrono::steady_clock::now();
  shared.go = true;
  for (const pid_t child : children) CHECK(wait_for(child) == 0);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  CHECK(shared.compiles == 1);
  MESSAGE("last process ready after ", took.count() / std::chrono::duration<double>(kCompile).count(), " compiles");
}

TEST_CASE("the holder's death passes the turn on; a time-out does not wait for ever") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  open(where);
  Shared& shared = shared_page();
  const pid_t holder = spawn([&] {
    auto flight = Flight::acquire(where, key_of(1), std::chrono::seconds(1));
    if (!flight || !flight->held()) return 1;
    shared.ready = 1;
    for (;;) ::pause();
  });
  while (shared.ready == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto refused = Flight::acquire(where, key_of(1), std::chrono::milliseconds(30));
  REQUIRE(refused);
  CHECK_FALSE(refused->held());
  CHECK(refused->waited());
  std::chrono::steady_clock::time_point got;
  std::thread waiter([&] {
    const auto flight = Flight::acquire(where, key_of(1), std::chrono::seconds(20));
    got = std::chrono::steady_clock::now();
    CHECK(flight->held());
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  const auto killed = std::chrono::steady_clock::now();
  ::kill(holder, SIGKILL);
  CHECK(wait_for(holder) == 1000 + SIGKILL);
  waiter.join();
  MESSAGE("turn passed on after ", std::chrono::duration<double, std::milli>(got - killed).count(), " ms");
  // Threads of one process exclude each other too.
  const auto mine = Flight::acquire(where, key_of(2), std::chrono::seconds(1));
  const auto other = Flight::acquire(where, key_of(2), std::chrono::milliseconds(5));
  CHECK(mine->held());
  CHECK_FALSE(other->held());
}

TEST_CASE("64 processes publish and read one key: all succeed") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  std::vector<pid_t> children;
  for (int i = 0; i < 64; ++i)
    children.push_back(spawn([&] {
      auto store = Store::open(where);  // the folder does not exist yet: they race to make it
      if (!store) return 1;
      if (!put(**store, 9)) return 2;
      return check(**store, 9) == 1 ? 0 : 3;
    }));
  for (const pid_t child : children) CHECK(wait_for(child) == 0);
  auto store = open(where);
  CHECK(store->stat()->entries == 1);
  CHECK(store->verify()->damage.empty());
}

TEST_CASE("a put that waits for another writer takes short slices, and gives them back") {
  const uint64_t slice = platform::scheduler_slice();
  if (slice == 0) {
    test::skipped("a thread cannot ask for slices before Linux 6.12");
    return;
  }
  // Notes the slice of who writes, and may hold it up.
  class Watched : public FileLayer {
   public:
    ssize_t pwrite(int fd, const void* bytes, size_t count, off_t at) override {
      slice = platform::scheduler_slice();
      if (inside) inside();
      return FileLayer::pwrite(fd, bytes, count, at);
    }
    uint64_t slice = 0;
    std::function<void()> inside;
  };
  TemporaryFolder folder;
  Watched first_files, second_files;
  const auto first = open(folder / "s", {.files = &first_files}), second = open(folder / "s", {.files = &second_files});
  uint64_t id = 0;
  CHECK(put(*first, id++));
  CHECK(first_files.slice == slice);
  // A second writer that the machine is late to start does not have to wait: then once more.
  for (int round = 0; round < 100 && (second_files.slice == 0 || second_files.slice == slice); ++round) {
    std::atomic<bool> inside{false}, held{true};
    first_files.inside = [&] {
      inside = true;
      while (held) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    };
    std::thread holder([&] { (void)put(*first, id); });
    while (!inside) std::this_thread::yield();
    held = false;
    CHECK(put(*second, id + 1));
    CHECK(platform::scheduler_slice() == slice);
    holder.join();
    CHECK(check(*second, id) == 1);
    CHECK(check(*first, id + 1) == 1);
    id += 2;
  }
  CHECK(second_files.slice < slice);
}

TEST_CASE("trim under readers with mapped entries: no error, budget held, nothing in use lost") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  constexpr uint64_t kBudget = 6 << 20;
  StoreOptions options;
  options.max_bytes = kBudget;
  Shared& shared = shared_page();
  open(where, options);
  std::vector<pid_t> children;
  for (int reader = 0; reader < 4; ++reader)
    children.push_back(spawn([&] {
      StoreOptions reading;
      reading.max_bytes = kBudget;
      auto store = Store::open(where, reading);
      if (!store) return 1;
      std::vector<std::pair<uint64_t, Entry>> held;
      uint64_t id = 0;
      while (!shared.stop) {
        id = (id + 37) % 1500;
        auto found = (*store)->find(key_of(id));
        if (!found) ++shared.errors;
        if (found && *found) held.emplace_back(id, std::move(**found));
        if (held.size() > 200) held.erase(held.begin(), held.begin() + 100);
        for (size_t i = 0; i < held.size(); i += 13) {
          const Bytes wanted = payload(held[i].first, test::size_of(held[i].first));
          const auto code = held[i].second.part("kernel.metallib");
          if (!code || !std::equal(code->begin(), code->end(), wanted.begin(), wanted.end())) ++shared.wrong;
        }
      }
      return 0;
    }));
  {
    auto store = open(where, options);
    for (uint64_t id = 0; id < 1500; ++id) {
      REQUIRE(put(*store, id));
      if (id % 100 == 99) CHECK(store->stat()->pack_bytes <= kBudget + kBudget / 20);  // while a trim goes on
    }
    CHECK(store->stat()->counters.evicted > 0);
  }
  shared.stop = true;
  for (const pid_t child : children) CHECK(wait_for(child) == 0);
  CHECK(shared.errors == 0);
  CHECK(shared.wrong == 0);
  CHECK(open(where, options)->verify()->damage.empty());
}

TEST_CASE("packs emptied while others replace, share and remove what lies in them: the last put of each is there") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  constexpr uint64_t kWriters = 3, kKeys = 20, kRounds = 40, kShared = 7;
  struct Acknowledged {
    std::atomic<uint64_t> rounds[kWriters][kKeys];
    std::atomic<uint64_t> done;
  };
  void* page = ::mmap(nullptr, sizeof(Acknowledged), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED);
  auto& acknowledged = *new (page) Acknowledged{};
  StoreOptions options;
  options.segment_bytes = 1 << 20;
  const auto key = [](uint64_t writer, uint64_t number) { return key_of(writer * 1000 + number); };
  const auto own = [](uint64_t writer, uint64_t number, uint64_t round) {
    return payload(writer * 1000000 + number * 1000 + round, 9000);
  };
  const auto shared = [](uint64_t number, uint64_t round) { return payload((number + round) % kShared, 20000); };
  open(where, options);
  std::vector<pid_t> children;
  for (uint64_t writer = 0; writer < kWriters; ++writer)
    children.push_back(spawn([&, writer] {
      struct Done {
        std::atomic<uint64_t>& count;
        ~Done() { ++count; }
      } done{acknowledged.done};
      auto store = Store::open(where, options);
      if (!store) return 1;
      for (uint64_t round = 0; round < kRounds; ++round)
        for (uint64_t number = 0; number < kKeys; ++number) {
          const Bytes mine = own(writer, number, round), ours = shared(number, round);
          if (!(*store)->put(key(writer, number), {{"own", mine}, {"shared", ours}}, signing::Provenance::made_here()))
            return 2;
          if (round == 0 && !(*store)->tag("w" + std::to_string(writer), std::to_string(number), key(writer, number)))
            return 3;  // tagged: not for a trim to remove
          acknowledged.rounds[writer][number] = round;
          const Digest passing = key(writer + 10, number);
          if (!(*store)->put(passing, {{"shared", ours}}, signing::Provenance::made_here()) ||
              !(*store)->remove(passing))
            return 4;
        }
      return 0;
    }));
  {
    auto store = open(where, options);
    while (acknowledged.done < kWriters) {
      REQUIRE(store->trim(std::max<uint64_t>(store->stat()->live_bytes, 1 << 20)));
    }
  }
  for (const pid_t child : children) CHECK(wait_for(child) == 0);
  auto store = open(where, options);
  REQUIRE(store->trim(1));
  for (uint64_t writer = 0; writer < kWriters; ++writer)
    for (uint64_t number = 0; number < kKeys; ++number) {
      const auto entry = store->find(key(writer, number)).value();
      REQUIRE(entry);
      const uint64_t round = acknowledged.rounds[writer][number];
      CHECK(round == kRounds - 1);
      const Bytes mine = own(writer, number, round), ours = shared(number, round);
      const ByteView a = entry->part("own").value(), b = entry->part("shared").value();
      CHECK(std::equal(mine.begin(), mine.end(), a.begin(), a.end()));
      CHECK(std::equal(ours.begin(), ours.end(), b.begin(), b.end()));
    }
  CHECK(store->verify()->damage.empty());
  ::munmap(page, sizeof(Acknowledged));
}

TEST_CASE("forked while other threads put: each child puts and finds at once") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  const auto store = open(where);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> made{0};
  std::vector<std::thread> writers;
  for (uint64_t writer = 0; writer < 2; ++writer)
    writers.emplace_back([&, writer] {
      for (uint64_t id = writer; !stop; id += 2)
        if (put(*store, id)) ++made;
    });
  int failed = 0;
  for (uint64_t round = 0; round < 40; ++round) {
    const pid_t child = spawn([&] {
      ::alarm(120);  // one that waits for ever fails
      const auto own = Store::open(where);
      if (!own || !put(**own, 1'000'000 + round)) return 1;
      return check(**own, 1'000'000 + round) == 1 ? 0 : 2;
    });
    failed += wait_for(child) != 0;
  }
  stop = true;
  for (std::thread& thread : writers) thread.join();
  CHECK(failed == 0);
  CHECK(made > 0);
  for (uint64_t round = 0; round < 40; ++round) CHECK(check(*store, 1'000'000 + round) == 1);
  CHECK(store->verify()->damage.empty());
}

TEST_CASE("a child forked during a flight holds up nobody when its parent is done, or gone") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  open(where);
  const auto acquire = [&] { return Flight::acquire(where, key_of(1), std::chrono::milliseconds(2000)); };
  auto flight = acquire();
  REQUIRE(flight);
  REQUIRE(flight->held());
  const pid_t idle = spawn([] {
    ::pause();
    return 0;
  });
  {
    const Flight done = std::move(*flight);
  }
  {
    const auto next = acquire();
    REQUIRE(next);
    CHECK(next->held());
  }
  // A parent that dies with the flight, and with the store in a put, leaves nothing locked to its child.
  int pipes[2];
  REQUIRE(::pipe2(pipes, O_CLOEXEC) == 0);
  const pid_t parent = spawn([&] {
    const auto own = Store::open(where);
    if (!own || !put(**own, 7)) return 1;
    const auto held = acquire();
    const pid_t child = ::fork();
    if (child == 0) {
      ::pause();
      ::_exit(0);
    }
    if (::write(pipes[1], &child, sizeof child) != sizeof child) return 1;
    ::pause();
    return 0;
  });
  pid_t orphan = 0;
  REQUIRE(::read(pipes[0], &orphan, sizeof orphan) == sizeof orphan);
  ::kill(parent, SIGKILL);
  CHECK(wait_for(parent) == 1000 + SIGKILL);
  const auto last = acquire();
  REQUIRE(last);
  CHECK(last->held());
  CHECK(put(*open(where), 8));
  ::kill(orphan, SIGKILL);
  ::kill(idle, SIGKILL);
  wait_for(idle);
  ::close(pipes[0]);
  ::close(pipes[1]);
}
