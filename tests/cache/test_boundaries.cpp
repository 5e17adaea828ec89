// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a store's rules begin and end: the last size that is taken, what goes first when there is no room, what is let
// go of.
#include "smelt/cache/flight.hpp"
#include "smelt/cache/store.hpp"
#include "smelt/cache/tag_names.hpp"

#include "entries.hpp"
#include "files.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <ctime>
#include <fstream>

using namespace smelt;
using namespace smelt::cache;
using test::check;
using test::key_of;
using test::open;
using test::payload;
using test::put;
using test::TemporaryFolder;

namespace {

const signing::Provenance kHere = signing::Provenance::made_here();

size_t open_descriptors() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

/// Lines of this process's memory map that name a file below the folder, and are of a file that was removed.
size_t mappings_of_removed(const std::filesystem::path& folder) {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find(folder.string()) != line.npos && line.ends_with("(deleted)");
  return count;
}

constexpr size_t kSize = 100000;

/// Entries 0, 1, ... of one size and these costs; which are left when room must be made for one of them.
std::vector<uint64_t> left_of(const std::vector<std::chrono::microseconds>& costs) {
  TemporaryFolder folder;
  auto store = open(folder / "s");
  for (uint64_t id = 0; id < costs.size(); ++id) {
    const Bytes code = payload(id, kSize);
    REQUIRE(store->put(key_of(id), {{"code", code}}, kHere, costs[id]));
  }
  const uint64_t live = store->stat()->live_bytes;
  REQUIRE(store->trim((live - kSize / 2) * 10 / 9));
  std::vector<uint64_t> left;
  for (uint64_t id = 0; id < costs.size(); ++id)
    if (store->find(key_of(id)).value()) left.push_back(id);
  return left;
}

}  // namespace

TEST_CASE("what took long to make stays as if it had been used later: an hour for each 0.1 s, three days at most") {
  using std::chrono::microseconds, std::chrono::seconds, std::chrono::milliseconds;
  using Left = std::vector<uint64_t>;
  const auto hour = [] { return ::time(nullptr) / 3600; };
  std::array<Left, 5> left;
  int64_t began = 0;
  do {  // all in one hour, or once more
    began = hour();
    left = {left_of({seconds(0), seconds(0), seconds(0)}), left_of({microseconds(100000), seconds(0), seconds(0)}),
            left_of({microseconds(99999), seconds(0), seconds(0)}),
            left_of({milliseconds(7200), milliseconds(7100), seconds(20)}),
            left_of({milliseconds(7300), milliseconds(7200), seconds(20)})};
  } while (hour() != began);
  CHECK(left[0] == Left{1, 2});  // of equals the oldest goes
  CHECK(left[1] == Left{0, 2});
  CHECK(left[2] == Left{1, 2});
  CHECK(left[3] == Left{0, 2});
  CHECK(left[4] == Left{1, 2});  // equals again
}

TEST_CASE("a trim lets go of the packs that it removed") {
  TemporaryFolder folder;
  StoreOptions options;
  options.segment_bytes = 1 << 20;
  auto store = open(folder / "s", options);
  for (uint64_t id = 0; id < 60; ++id) {
    const Bytes code = payload(id, kSize);
    REQUIRE(store->put(key_of(id), {{"code", code}}, kHere));
    REQUIRE(store->find(key_of(id)).value());
  }
  CHECK(store->stat()->packs >= 5);
  REQUIRE(store->trim(1 << 20));
  CHECK(store->stat()->pack_bytes <= 1 << 20);
  CHECK(mappings_of_removed(folder / "s") == 0);
  auto held = store->find(key_of(59)).value();
  REQUIRE(held);
  REQUIRE(store->remove(key_of(59)).value());
  REQUIRE(store->trim(1));
  const Bytes wanted = payload(59, kSize);  // whoever holds an entry still has its bytes
  CHECK(std::equal(wanted.begin(), wanted.end(), held->part("code")->begin()));
}

TEST_CASE("an entry of several blobs that a trim moves has each of them where it is") {
  TemporaryFolder folder;
  StoreOptions options;
  options.segment_bytes = 1 << 20;
  auto store = open(folder / "s", options);
  const auto value = [](uint64_t id, uint64_t part) { return payload(3 * id + part, 30000 + 1000 * part); };
  constexpr uint64_t kEntries = 40;
  for (uint64_t id = 0; id < kEntries; ++id) {
    const Bytes one = value(id, 0), two = value(id, 1), three = value(id, 2);
    REQUIRE(
        store->put(key_of(id), {{"one", one}, {"two", two}, {"three", three}, {"note", as_bytes("inline")}}, kHere));
  }
  for (uint64_t id = 0; id < kEntries; id += 2) REQUIRE(store->remove(key_of(id)).value());
  const auto before = store->stat().value();
  const auto report = store->trim(before.live_bytes * 5 / 4).value();
  CHECK(report.bytes_after < report.bytes_before);
  CHECK(store->verify()->damage.empty());
  for (auto& again : {store, open(folder / "s", options)})
    for (uint64_t id = 1; id < kEntries; id += 2) {
      const auto entry = again->find(key_of(id)).value();
      REQUIRE(entry);
      for (uint64_t part = 0; part < 3; ++part) {
        const Bytes wanted = value(id, part);
        const ByteView found = entry->part(std::array{"one", "two", "three"}[part]).value();
        CHECK(std::equal(wanted.begin(), wanted.end(), found.begin(), found.end()));
      }
      CHECK(as_text(entry->part("note").value()) == "inline");
    }
}

TEST_CASE("a flight that is moved onto another gives up that one's turn and keeps its own") {
  TemporaryFolder folder;
  auto store = open(folder / "s");
  const auto free = [&](uint64_t id) {
    return Flight::acquire(folder / "s", key_of(id), std::chrono::milliseconds(0))->held();
  };
  {
    Flight one = Flight::acquire(folder / "s", key_of(1), std::chrono::milliseconds(0)).value();
    {
      Flight two = Flight::acquire(folder / "s", key_of(2), std::chrono::milliseconds(0)).value();
      CHECK(one.held());
      CHECK(two.held());
      CHECK_FALSE(free(1));
      CHECK_FALSE(free(2));
      one = std::move(two);
    }
    CHECK(one.held());
    CHECK_FALSE(one.waited());
    CHECK(free(1));
    CHECK_FALSE(free(2));
    Flight blocked = Flight::acquire(folder / "s", key_of(2), std::chrono::milliseconds(1)).value();
    CHECK_FALSE(blocked.held());
    CHECK(blocked.waited());
  }
  CHECK(free(2));
}

TEST_CASE("a store that is closed leaves no descriptor, nor does a trim") {
  TemporaryFolder folder;
  const auto once = [&] {
    auto store = open(folder / "s");
    REQUIRE(put(*store, 1));
    CHECK(check(*store, 1) == 1);
    REQUIRE(store->trim(1 << 30));
    REQUIRE(store->trim(1 << 30));
  };
  once();
  const size_t before = open_descriptors();
  for (int i = 0; i < 5; ++i) once();
  CHECK(open_descriptors() == before);
}

TEST_CASE("one entry of a burst keeps the memory of all") {
  // Each record is in one piece, its values beside it: nothing else holds on to what was copied.
  TemporaryFolder folder;
  constexpr uint64_t kEntries = 400, kParts = 16;
  std::vector<Digest> keys;
  const auto value = [](uint64_t id, uint64_t part) { return payload(id * kParts + part, 500); };
  {
    auto store = open(folder / "s");
    for (uint64_t id = 0; id < kEntries; ++id) {
      std::vector<std::string> names;
      std::vector<Bytes> values;
      for (uint64_t part = 0; part < kParts; ++part) {
        names.push_back(fmt::format("{:02}", part));
        values.push_back(value(id, part));
      }
      std::vector<PartIn> parts;
      for (uint64_t part = 0; part < kParts; ++part) parts.push_back({names[part], values[part]});
      REQUIRE(store->put(key_of(id), parts, kHere));
      keys.push_back(key_of(id));
    }
  }
  std::optional<Entry> kept;
  {
    auto store = open(folder / "s");
    auto found = store->find_all(keys).value();
    kept = found[123];
  }
  REQUIRE(kept);
  REQUIRE(kept->parts().size() == kParts);
  for (uint64_t part = 0; part < kParts; ++part) {
    const Bytes wanted = value(123, part);
    CHECK(std::equal(wanted.begin(), wanted.end(), kept->parts()[part].bytes.begin()));
  }
}

TEST_CASE("counters count bytes: what was written, and what was read") {
  TemporaryFolder folder;
  auto store = open(folder / "s");
  const Bytes code = payload(1, kSize);
  REQUIRE(store->put(key_of(1), {{"code", code}}, kHere, std::chrono::microseconds(1234)));
  const uint64_t written = store->counters().bytes_written;
  CHECK(written >= kSize);
  CHECK(written < kSize + 1000);
  CHECK(store->counters().puts == 1);
  REQUIRE(store->put(key_of(1), {{"code", code}}, kHere, std::chrono::microseconds(1234)));  // the same again
  CHECK(store->counters().puts == 1);
  CHECK(store->counters().bytes_written == written);
  CHECK(store->counters().bytes_read == 0);
  REQUIRE(store->find(key_of(1)).value());
  CHECK(store->counters().bytes_read == kSize);
  CHECK(store->counters().microseconds_saved == 1234);
  REQUIRE(store->find(key_of(1)).value());
  CHECK(store->counters().bytes_read == 2 * kSize);
  CHECK(store->counters().hits == 2);
  CHECK_FALSE(store->find(key_of(2)).value());
  CHECK(store->counters().misses == 1);
}

TEST_CASE("names of parts: one to 65535 bytes, and none twice") {
  TemporaryFolder folder;
  auto store = open(folder / "s");
  const std::string longest(65535, 'n'), longer(65536, 'n');
  REQUIRE(store->put(key_of(1), {{longest, as_bytes("value")}}, kHere));
  CHECK(as_text(store->find(key_of(1)).value()->part(longest).value()) == "value");
  CHECK_FALSE(store->put(key_of(2), {{longer, as_bytes("value")}}, kHere));
  CHECK_FALSE(store->put(key_of(2), {{std::string_view("a\0b", 3), as_bytes("value")}}, kHere));
  CHECK_FALSE(store->put(key_of(2), {{"b", {}}, {"a", {}}, {"b", {}}}, kHere));
  CHECK_FALSE(store->put(key_of(2), {{signing::kOriginPart, {}}}, kHere));
  CHECK_FALSE(store->find(key_of(2)).value());
}

TEST_CASE("values beside the record and apart from it come back, at the size where that changes") {
  TemporaryFolder folder;
  auto store = open(folder / "s");
  for (const size_t size : {size_t{511}, size_t{512}, size_t{513}}) {
    const Bytes code = payload(size, size);
    REQUIRE(store->put(key_of(size), {{"code", code}}, kHere));
    const auto entry = store->find(key_of(size)).value();
    REQUIRE(entry);
    CHECK(std::equal(code.begin(), code.end(), entry->part("code")->begin(), entry->part("code")->end()));
    CHECK(store->stat()->blobs == (size > 512 ? 1 : 0));
  }
  // Compressed where that saves an eighth: not noise, which comes back all the same.
  const Bytes noise = payload(7, 4096);
  const std::string text(4096, 'x');
  REQUIRE(store->put(key_of(1), {{"noise", noise, true}, {"text", as_bytes(text), true}}, kHere));
  const auto entry = store->find(key_of(1)).value();
  REQUIRE(entry);
  CHECK(as_text(entry->part("text").value()) == text);
  CHECK(std::equal(noise.begin(), noise.end(), entry->part("noise")->begin(), entry->part("noise")->end()));
}

TEST_CASE("tags: what a name may be, and what is said of one that may not") {
  const auto said = [](std::string_view name, std::string_view version) {
    const auto checked = check_tag(name, version);
    return checked ? std::string() : checked.error().message;
  };
  CHECK(said("a", "1").empty());
  CHECK(said(std::string(255, 'n'), std::string(255, '1')).empty());
  CHECK_FALSE(said(std::string(256, 'n'), "1").empty());
  CHECK_FALSE(said("a", std::string(256, '1')).empty());
  for (const char* bad : {"", "a@b", "a<", "a>", "a=", "a,b", "a b", "a\tb", "a\nb"}) {
    CHECK_FALSE(said(bad, "1").empty());
    CHECK_FALSE(said("a", bad).empty());
  }
  CHECK_FALSE(said(std::string_view("a\0b", 3), "1").empty());
  CHECK(said("a\nb\tc", "1").find("tag 'a b c@1': want") != std::string::npos);
  CHECK(said(std::string(256, 'n'), "1").find("'" + std::string(80, 'n') + "...@1'") != std::string::npos);
  CHECK(said(std::string(80, ' '), "1").find("'" + std::string(80, ' ') + "@1'") != std::string::npos);
}

TEST_CASE("versions are in their order") {
  const std::array<const char*, 11> ascending = {"",       "1",      "1.0", "1.0.0", "1.9", "1.10",
                                                 "1.10.a", "1.10.b", "1.a", "2",     "a"};
  for (size_t a = 0; a < ascending.size(); ++a)
    for (size_t b = 0; b < ascending.size(); ++b) {
      CAPTURE(ascending[a]);
      CAPTURE(ascending[b]);
      const int order = compare_versions(ascending[a], ascending[b]);
      CHECK((order > 0) == (a > b));
      CHECK((order < 0) == (a < b));
    }
}

TEST_CASE("ranges of versions hold at their ends") {
  TemporaryFolder folder;
  auto store = open(folder / "s");
  for (uint64_t id = 1; id <= 3; ++id) {
    REQUIRE(put(*store, id));
    REQUIRE(store->tag("k", fmt::format("{}.0", id), key_of(id)));
  }
  const auto found = [&](std::string_view query) {
    const auto tags = store->resolve(query);
    std::string versions;
    if (tags)
      for (const TagInfo& tag : *tags) versions += tag.version.substr(0, 1);
    return versions;
  };
  CHECK(found("k") == "321");
  CHECK(found("k@>2.0") == "3");
  CHECK(found("k@>=2.0") == "32");
  CHECK(found("k@<2.0") == "1");
  CHECK(found("k@<=2.0") == "21");
  CHECK(found("k@=2.0") == "2");
  CHECK(found("k@==2.0") == "2");
  CHECK(found("k@>1.0,<3.0") == "2");
  CHECK(found("k@2") == "2");
  CHECK(found("k@2.0") == "2");
  CHECK(found("k@2.") == "");
  CHECK(found("k@20") == "");
  CHECK(found("k@>") == "");
  CHECK(found("k@<>2.0") == "");
}
