// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same suite for every kind of server.
#include "smelt/remote/remotes.hpp"

#include "entries.hpp"
#include "servers.hpp"

#include <doctest/doctest.h>

using namespace smelt;
using namespace smelt::remote;
using namespace smelt::test;

namespace {

std::shared_ptr<Remote> open(const std::string& url) {
  auto address = parse_address(patient(url));
  if (!address) FAIL(address.error().message);
  auto remote = Remote::open(*address);
  if (!remote) FAIL(remote.error().message);
  return std::move(*remote);
}

void must(const Result<void>& result) {
  if (!result) FAIL(result.error().message);
}

}  // namespace

TEST_CASE("what is put is found, whole, by another who asks") {
  for (const ServerKind& kind : server_kinds()) {
    CAPTURE(kind.name);
    const auto server = kind.start();
    const std::vector<Outgoing> entries{entry_of(1), entry_of(2), entry_of(3)};
    must(open(server->url())->put(entries));

    const auto reader = open(server->url());
    const std::vector<Digest> keys{entries[2].key, key_of(99), entries[0].key};
    const auto found = reader->find(keys);
    REQUIRE(found[0]);
    REQUIRE(found[2]);
    CHECK_FALSE(found[1]);
    CHECK(same(*found[0], entries[2]));
    CHECK(same(*found[2], entries[0]));
    const Statistics counts = reader->statistics();
    CHECK(counts.hits == 2);
    CHECK(counts.misses == 1);
    CHECK(counts.errors == 0);
    CHECK(counts.bytes_read > 0);
  }
}

TEST_CASE("a batch of hundreds costs few round trips") {
  for (const ServerKind& kind : server_kinds()) {
    CAPTURE(kind.name);
    const auto server = kind.start();
    std::vector<Outgoing> entries;
    std::vector<Digest> keys;
    for (uint64_t id = 0; id < 200; ++id) {
      entries.push_back(entry_of(id));
      keys.push_back(entries.back().key);
    }
    must(open(server->url())->put(entries));
    const auto reader = open(server->url());
    const auto found = reader->find(keys);
    for (size_t i = 0; i < keys.size(); ++i) {
      REQUIRE(found[i]);
      CHECK(same(*found[i], entries[i]));
    }
    const uint64_t trips = reader->statistics().round_trips;
    MESSAGE(kind.name, ": ", trips, " round trips for 200 entries of two parts");
    if (kind.name.starts_with("redis")) CHECK(trips <= 4);
  }
}

TEST_CASE("putting again changes nothing; another entry under the same key replaces it") {
  for (const ServerKind& kind : server_kinds()) {
    CAPTURE(kind.name);
    const auto server = kind.start();
    Outgoing entry = entry_of(7);
    const auto writer = open(server->url());
    must(writer->put(std::span(&entry, 1)));
    const uint64_t once = writer->statistics().bytes_written;
    must(writer->put(std::span(&entry, 1)));
    // The blobs were there: only the record went again.
    CHECK(writer->statistics().bytes_written < once + 2000);
    entry.parts[0].bytes = payload(8, 5000);
    must(writer->put(std::span(&entry, 1)));
    const auto found = open(server->url())->find(std::span(&entry.key, 1));
    REQUIRE(found[0]);
    CHECK(same(*found[0], entry));
  }
}

TEST_CASE("large parts, empty parts and odd names travel") {
  for (const ServerKind& kind : server_kinds()) {
    CAPTURE(kind.name);
    const auto server = kind.start();
    Outgoing entry = entry_of(11);
    entry.made_from = "a compiler, and: \"odd\" text \xc3\xa4";
    entry.cost = std::chrono::microseconds(1234);
    entry.parts = {{"empty", {}},
                   {"large", payload(1, size_t{9} << 20)},
                   {"compressible", Bytes(size_t{3} << 20)},
                   {"name with spaces / and \xe2\x82\xac", payload(2, 10)}};
    must(open(server->url())->put(std::span(&entry, 1)));
    const auto found = open(server->url())->find(std::span(&entry.key, 1));
    REQUIRE(found[0]);
    CHECK(same(*found[0], entry));
    CHECK(found[0]->record.made_from == entry.made_from);
    CHECK(found[0]->record.cost_us == 1234);
  }
}

TEST_CASE("a miss is remembered, a put or a fresh look forgets it") {
  for (const ServerKind& kind : server_kinds()) {
    CAPTURE(kind.name);
    const auto server = kind.start();
    const Outgoing entry = entry_of(21);
    const auto reader = open(server->url());
    CHECK_FALSE(reader->find(std::span(&entry.key, 1))[0]);
    must(open(server->url())->put(std::span(&entry, 1)));
    CHECK_FALSE(reader->find(std::span(&entry.key, 1))[0]);
    CHECK(reader->statistics().remembered == 1);
    CHECK(reader->find(std::span(&entry.key, 1), true)[0]);

    const Outgoing other = entry_of(22);
    CHECK_FALSE(reader->find(std::span(&other.key, 1))[0]);
    must(reader->put(std::span(&other, 1)));
    CHECK(reader->find(std::span(&other.key, 1))[0]);
  }
}

TEST_CASE("a read-only remote is never written") {
  for (const ServerKind& kind : server_kinds()) {
    CAPTURE(kind.name);
    const auto server = kind.start();
    const std::string url = server->url();
    const auto remote = open(url + (url.find('?') == std::string::npos ? "?" : "&") + "read-only");
    CHECK_FALSE(remote->takes_puts());
    const Outgoing entry = entry_of(31);
    CHECK_FALSE(remote->put(std::span(&entry, 1)));
    CHECK_FALSE(open(url)->find(std::span(&entry.key, 1))[0]);
  }
}

TEST_CASE("what waits to be sent is sent by the end") {
  for (const ServerKind& kind : server_kinds()) {
    CAPTURE(kind.name);
    const auto server = kind.start();
    {
      auto remotes = Remotes::open({*parse_address(patient(server->url()))});
      REQUIRE(remotes);
      for (uint64_t id = 0; id < 8; ++id) (*remotes)->put_later({entry_of(id)});
    }
    const auto reader = open(server->url());
    for (uint64_t id = 0; id < 8; ++id) {
      const Digest key = key_of(id);
      CHECK(reader->find(std::span(&key, 1))[0]);
    }
  }
}
