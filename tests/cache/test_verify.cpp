// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verify: in little memory, and beside those who write and trim.
#include "smelt/cache/store.hpp"

#include "entries.hpp"
#include "files.hpp"
#include "processes.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>

using namespace smelt;
using namespace smelt::cache;
using test::execute;
using test::key_of;
using test::open;
using test::payload;
using test::spawn;
using test::TemporaryFolder;
using test::wait_for;

namespace {

// Memory that was given back stays taken there for a while.
#if defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

const signing::Provenance kHere = signing::Provenance::made_here();

/// Each with a blob of its own, of 600 bytes.
void put_blobs(Store& store, uint64_t first, uint64_t last) {
  std::vector<Bytes> values;
  std::vector<Store::Put> puts;
  for (uint64_t id = first; id < last; ++id) values.push_back(payload(id, 600));
  for (uint64_t id = first; id < last; ++id) puts.push_back({key_of(id), {{"k", values[id - first]}}, kHere});
  REQUIRE(store.put_all(puts));
}

uint64_t peak_kilobytes() {
  struct rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss);
}

}  // namespace

TEST_CASE("verify of many entries takes less than 100 bytes of memory for each") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  constexpr uint64_t kEntries = 50000;
  {
    auto store = open(where);
    for (uint64_t id = 0; id < kEntries; id += 1000) put_blobs(*store, id, id + 1000);
  }
  CHECK(wait_for(spawn([&] {
          auto store = open(where);
          if (!store->stat()) return 1;
          // What the parent's peak was counts for a child, too: as much is taken before.
          {
            const Bytes as_much(peak_kilobytes() * 1024, std::byte{1});
          }
          const uint64_t before = peak_kilobytes();
          const auto report = store->verify();
          if (!report || !report->damage.empty() || report->entries != kEntries || report->blobs != kEntries) return 2;
          return kSanitized || peak_kilobytes() - before < kEntries * 100 / 1024 ? 0 : 3;
        })) == 0);
}

TEST_CASE("verify beside puts, removals and trims calls nothing damaged") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  constexpr uint64_t kEntries = 400;
  StoreOptions options;
  options.segment_bytes = 32768;
  auto store = open(where, options);
  put_blobs(*store, 0, kEntries);
  auto* over = static_cast<std::atomic<bool>*>(
      ::mmap(nullptr, sizeof(std::atomic<bool>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t writer = spawn([&] {
    auto other = open(where, options);
    for (uint64_t version = 1; !*over; ++version) {
      for (uint64_t id = 0; id < kEntries; id += 1 + version % 3) {
        const Bytes value = payload(version * kEntries + id, 600 + id);
        if (!other->put(key_of(id), {{"k", value}}, kHere)) return 1;
        if (id % 10 == version % 10 && !other->remove(key_of(id))) return 2;
      }
      if (!other->trim(other->stat()->live_bytes * 10 / 9)) return 3;
    }
    return 0;
  });
  for (int round = 0; round < 100; ++round) {
    const auto report = store->verify();
    REQUIRE(report);
    for (const std::string& line : report->damage) FAIL_CHECK(line);
  }
  *over = true;
  CHECK(wait_for(writer) == 0);
  ::munmap(over, sizeof(std::atomic<bool>));
  CHECK(store->verify()->damage.empty());
}

TEST_CASE("rows with values of wrong types are counted, those around them are looked at") {
  TemporaryFolder folder;
  const auto where = folder / "s";
  constexpr uint64_t kEntries = 3000;
  {
    auto store = open(where);
    for (uint64_t id = 0; id < kEntries; id += 1000) put_blobs(*store, id, id + 1000);
  }
  // Alone in a piece, and at its end.
  execute(where / "store.db", "UPDATE entry SET xxh='text' WHERE id IN (1,1024) OR id BETWEEN 1500 AND 2600");
  execute(where / "store.db", "UPDATE blob SET pack='text' WHERE id=3000");
  auto store = open(where);
  const auto report = store->verify();
  REQUIRE(report);
  CHECK(report->entries == kEntries - 2 - 1101);
  CHECK(report->blobs == kEntries - 1);
  CHECK(std::any_of(report->damage.begin(), report->damage.end(),
                    [](const std::string& line) { return line.find("1104 rows") != std::string::npos; }));
  CHECK(store->verify(OnDamage::drop)->rebuilt);
  CHECK(store->verify()->damage.empty());
  CHECK(store->stat()->entries == kEntries);
}
