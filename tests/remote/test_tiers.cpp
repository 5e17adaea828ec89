// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A local store with remotes behind it, and what becomes of entries by whom they are signed.
#include "smelt/cache/file_layer.hpp"
#include "smelt/remote/tiered_store.hpp"

#include "entries.hpp"
#include "fault_server.hpp"
#include "servers.hpp"
#include "skips.hpp"

#include <doctest/doctest.h>

#include <thread>

using namespace smelt;
using namespace smelt::remote;
using namespace smelt::test;
using std::chrono::milliseconds;

namespace {

std::shared_ptr<cache::Store> local_in(const std::filesystem::path& folder, bool read_only = false) {
  cache::StoreOptions options;
  options.read_only = read_only;
  auto store = cache::Store::open(folder, options);
  if (!store) FAIL(store.error().message);
  return std::move(*store);
}

TierOptions options_for(const std::string& urls, signing::Level level = signing::Level::any) {
  TierOptions options;
  options.remotes = parse_addresses(urls).value();
  options.policy.level = level;
  return options;
}

std::shared_ptr<TieredStore> tiers(const std::filesystem::path& folder, TierOptions options) {
  auto opened = TieredStore::open(local_in(folder), std::move(options));
  if (!opened) FAIL(opened.error().message);
  return std::move(*opened);
}

void put(TieredStore& store, const Outgoing& entry) {
  cache::Store::Put put{entry.key, {}, signing::Provenance::made_here()};
  for (const Part& part : entry.parts) put.parts.push_back({part.name, part.bytes});
  REQUIRE(store.put_all({put}));
}

std::optional<cache::Entry> find(TieredStore& store, const Digest& key) {
  auto found = store.find(key, true);
  if (!found) FAIL(found.error().message);
  return std::move(*found);
}

bool whole(const std::optional<cache::Entry>& found, const Outgoing& entry) {
  if (!found) return false;
  for (const Part& part : entry.parts) {
    const auto bytes = found->part(part.name);
    if (!bytes || to_bytes(*bytes) != part.bytes) return false;
  }
  return true;
}

/// Stands for a compiler: native code made here.
Result<std::optional<std::vector<Part>>> remade(const std::vector<cache::Entry::Part>& parts) {
  return std::optional(std::vector<Part>{{"remade", Bytes(parts.size())}});
}

}  // namespace

TEST_CASE("what one machine puts another finds, keeps, and needs no remote for any more") {
  const TemporaryFolder folder, mirror;
  const std::string url = "file://" + mirror.path().string();
  const Outgoing entry = entry_of(1);
  put(*tiers(folder / "a", options_for(url)), entry);
  {
    const auto other = tiers(folder / "b", options_for(url));
    CHECK(whole(find(*other, entry.key), entry));
    CHECK(other->remotes().statistics()[0].statistics.hits == 1);
    CHECK(whole(find(*other, entry.key), entry));
    CHECK(other->remotes().statistics()[0].statistics.hits == 1);
  }
  CHECK(whole(find(*tiers(folder / "b", options_for("")), entry.key), entry));
  const auto counts = read_statistics(folder / "b");
  REQUIRE(counts.size() == 1);
  CHECK(counts[0].statistics.hits == 1);
  CHECK(counts[0].name == url);
}

TEST_CASE("remotes are asked in order; a read-only store still finds there") {
  const TemporaryFolder folder, near, far;
  const Outgoing here = entry_of(1), there = entry_of(2);
  put(*tiers(folder / "a", options_for("file://" + near.path().string())), here);
  put(*tiers(folder / "a", options_for("file://" + far.path().string())), there);
  const std::string both = "file://" + near.path().string() + " file://" + far.path().string();
  const auto reader = tiers(folder / "b", options_for(both));
  const auto found = reader->find_all({there.key, key_of(9), here.key}).value();
  CHECK(whole(found[0], there));
  CHECK_FALSE(found[1]);
  CHECK(whole(found[2], here));
  const auto counts = reader->remotes().statistics();
  CHECK(counts[0].statistics.hits == 1);
  CHECK(counts[0].statistics.misses == 2);
  CHECK(counts[1].statistics.hits == 1);

  {
    tiers(folder / "c", options_for(""));
  }
  auto read_only = TieredStore::open(local_in(folder / "c", true), options_for(both)).value();
  CHECK(whole(find(*read_only, here.key), here));
}

TEST_CASE("an entry that nobody trusted signed: refused, made anew, or taken whole") {
  const TemporaryFolder folder, mirror;
  const std::string url = "file://" + mirror.path().string();
  const signing::SecretKey key = signing::new_key("ci").value(), stranger = signing::new_key("stranger").value();
  const Outgoing entry = entry_of(1);
  std::vector<std::string> warnings;
  const auto reader = [&](const std::string& name, signing::Level level, const std::vector<signing::SecretKey>& trusted,
                          bool with_compiler) {
    TierOptions options = options_for(url, level);
    for (const auto& one : trusted) options.policy.keys.push_back(signing::public_key(one));
    options.warn = [&](std::string_view text) { warnings.emplace_back(text); };
    if (with_compiler) options.recompile = remade;
    warnings.clear();
    return tiers(folder / name, std::move(options));
  };

  SUBCASE("unsigned") {
    put(*tiers(folder / "writer", options_for(url)), entry);
    CHECK(whole(find(*reader("any", signing::Level::any, {}, false), entry.key), entry));
    for (const auto level : {signing::Level::local, signing::Level::signed_only}) {
      CHECK_FALSE(find(*reader(fmt::format("plain{}", int(level)), level, {key}, false), entry.key));
      REQUIRE(warnings.size() == 1);
      CHECK(warnings[0].find("nobody signed it") != std::string::npos);
      CHECK(warnings[0].find("trusted are ci") != std::string::npos);
      CHECK(warnings[0].find("SMELT_TRUSTED_KEYS") != std::string::npos);
      const auto compiled = find(*reader(fmt::format("compiler{}", int(level)), level, {key}, true), entry.key);
      CHECK(compiled.has_value() == (level == signing::Level::local));
      if (!compiled) continue;
      CHECK(compiled->part("remade"));
      CHECK_FALSE(compiled->part("kernel.smelt"));
    }
    // What was remade is found again without the remote, and is still a stranger's program.
    CHECK(find(*tiers(folder / "compiler1", options_for("", signing::Level::local)), entry.key)->part("remade"));
    CHECK_FALSE(find(*tiers(folder / "compiler1", options_for("", signing::Level::signed_only)), entry.key));
  }
  SUBCASE("signed by a stranger, and by one who is trusted") {
    TierOptions writing = options_for(url);
    writing.signing = stranger;
    put(*tiers(folder / "writer", writing), entry);
    CHECK_FALSE(find(*reader("a", signing::Level::local, {key}, false), entry.key));
    CHECK(warnings.at(0).find("signed by stranger") != std::string::npos);
    CHECK(whole(find(*reader("b", signing::Level::signed_only, {key, stranger}, true), entry.key), entry));
    CHECK(warnings.empty());
  }
  SUBCASE("another's name on one's own key") {
    signing::SecretKey forged = signing::new_key("ci").value();
    TierOptions writing = options_for(url);
    writing.signing = forged;
    put(*tiers(folder / "writer", writing), entry);
    CHECK_FALSE(find(*reader("a", signing::Level::local, {key}, false), entry.key));
    // While a key is replaced, two of one name are trusted.
    CHECK(whole(find(*reader("b", signing::Level::local, {key, forged}, false), entry.key), entry));
  }
  SUBCASE("signed, but for another key: a record moved and renamed") {
    TierOptions writing = options_for(url);
    writing.signing = key;
    put(*tiers(folder / "writer", writing), entry);
    auto opened = Remote::open(*parse_address(url)).value();
    auto arrived = opened->find(std::span(&entry.key, 1), true)[0];
    REQUIRE(arrived);
    const Digest target = key_of(99);
    Outgoing moved{target, arrived->record.made_from, {}, arrived->parts, arrived->record.signatures};
    REQUIRE(opened->put(std::span(&moved, 1)));
    CHECK(find(*reader("a", signing::Level::local, {key}, false), entry.key));
    CHECK_FALSE(find(*reader("b", signing::Level::local, {key}, false), target));
    // Nor with other bytes under the same key.
    moved = {entry.key, arrived->record.made_from, {}, entry_of(50).parts, arrived->record.signatures};
    REQUIRE(opened->put(std::span(&moved, 1)));
    CHECK_FALSE(find(*reader("c", signing::Level::local, {key}, false), entry.key));
  }
}

TEST_CASE("a key that is withdrawn, and trust that becomes stricter, hold for what is here already") {
  const TemporaryFolder folder, mirror;
  const std::string url = "file://" + mirror.path().string();
  const signing::SecretKey key = signing::new_key("ci").value();
  const Outgoing entry = entry_of(1), open = entry_of(2);
  TierOptions writing = options_for(url);
  writing.signing = key;
  put(*tiers(folder / "writer", writing), entry);
  put(*tiers(folder / "writer", options_for(url)), open);

  TierOptions reading = options_for(url, signing::Level::local);
  reading.policy.keys.push_back(signing::public_key(key));
  CHECK(whole(find(*tiers(folder / "b", reading), entry.key), entry));
  CHECK(whole(find(*tiers(folder / "b", options_for(url)), open.key), open));  // taken while trust was `any`

  CHECK(whole(find(*tiers(folder / "b", reading), entry.key), entry));
  CHECK_FALSE(find(*tiers(folder / "b", reading), open.key));
  reading.policy.keys.clear();
  CHECK_FALSE(find(*tiers(folder / "b", reading), entry.key));
  reading.recompile = remade;
  CHECK(find(*tiers(folder / "b", reading), entry.key)->part("remade"));
  // What was compiled here never needed a signature.
  const Outgoing own = entry_of(3);
  put(*tiers(folder / "b", options_for("", signing::Level::signed_only)), own);
  CHECK(whole(find(*tiers(folder / "b", options_for("", signing::Level::signed_only)), own.key), own));
}

TEST_CASE("signatures are carried on: pushed from a store that only fetched the entry") {
  const TemporaryFolder folder, first, second;
  const signing::SecretKey key = signing::new_key("ci").value();
  const Outgoing entry = entry_of(1);
  TierOptions writing = options_for("file://" + first.path().string());
  writing.signing = key;
  put(*tiers(folder / "writer", writing), entry);
  const auto relay = [&](const TemporaryFolder& mirror) {
    TierOptions options = options_for("file://" + mirror.path().string());
    options.policy.keys.push_back(signing::public_key(key));
    return tiers(folder / "relay", std::move(options));
  };
  CHECK(find(*relay(first), entry.key));
  const auto untrusted = tiers(folder / "relay", options_for("file://" + second.path().string()))->push({entry.key});
  REQUIRE(!untrusted);
  CHECK(untrusted.error().code == Errc::untrusted);
  REQUIRE(relay(second)->push({entry.key}));
  TierOptions reading = options_for("file://" + second.path().string(), signing::Level::signed_only);
  reading.policy.keys.push_back(signing::public_key(key));
  CHECK(whole(find(*tiers(folder / "reader", reading), entry.key), entry));
}

TEST_CASE("what derives from a remote's entry is signed and sent only where our own key signed that") {
  const TemporaryFolder folder, mirror, out;
  const std::string url = "file://" + mirror.path().string();
  const signing::SecretKey key = signing::new_key("ci").value(), other = signing::new_key("other").value();
  const Outgoing ours = entry_of(1), theirs = entry_of(2), open = entry_of(3);
  const auto write = [&](const Outgoing& entry, std::optional<signing::SecretKey> with) {
    TierOptions options = options_for(url);
    options.signing = std::move(with);
    put(*tiers(folder / "writer", options), entry);
  };
  write(ours, key);
  write(theirs, other);
  write(open, std::nullopt);
  TierOptions options = options_for(url, signing::Level::any);
  options.signing = key;
  options.policy.keys = {signing::public_key(key), signing::public_key(other)};
  options.warn = [](std::string_view) {};
  // A machine that signs takes nothing unsigned, unless it is told to.
  CHECK_FALSE(find(*tiers(folder / "strict", options), open.key));
  options.takes_unsigned = true;
  const auto machine = tiers(folder / "machine", options);
  uint64_t number = 10;
  for (const Outgoing* const entry : {&ours, &theirs, &open}) {
    const auto found = find(*machine, entry->key);
    REQUIRE(found);
    signing::Provenance joined = signing::Provenance::made_here();
    joined += found->origin();
    for (const signing::Provenance& origin : {found->origin().derived(), joined, found->origin().remade()}) {
      const Outgoing made = entry_of(number++);
      cache::Store::Put put{made.key, {}, origin};
      for (const Part& part : made.parts) put.parts.push_back({part.name, part.bytes});
      REQUIRE(machine->put_all({put}));
      CHECK(machine->remotes().drain(milliseconds(5000)));
      const auto server = Remote::open(*parse_address(url)).value();
      CHECK(server->find(std::span(&made.key, 1), true)[0].has_value() == (entry == &ours));
      TierOptions pushing = options;
      pushing.remotes = parse_addresses("file://" + out.path().string()).value();
      const auto pushed = tiers(folder / "machine", pushing)->push({made.key});
      CHECK(pushed.has_value() == (entry == &ours));
    }
  }
}

TEST_CASE("the text of an origin comes back, and what no store of ours wrote is unknown") {
  const signing::PublicKey key = signing::public_key(signing::new_key("ci").value());
  const auto here = signing::Provenance::made_here();
  const auto entry = signing::Provenance::of_remote("redis://a", key, "smelt; source 1", {"ci:AAAA", "b:BBBB"});
  auto joined = entry;
  joined += signing::Provenance::of_remote("redis://b", std::nullopt, "", {});
  joined += signing::Provenance::of_file(key);
  auto old = joined;
  old += signing::Provenance::unknown();
  for (const auto& origin : {here, entry, entry.derived(), entry.remade(), joined, joined.remade(), old,
                             signing::Provenance::unknown(), signing::Provenance::of_file(std::nullopt)}) {
    CAPTURE(origin.to_text());
    CHECK(signing::Provenance::parse(origin.to_text()) == origin);
    signing::Provenance again = origin;
    again += origin;
    CHECK(again == origin.derived());
  }
  CHECK(signing::Provenance::parse("") == signing::Provenance::unknown());
  CHECK(signing::Provenance::parse("mode-here\n") == signing::Provenance::unknown());
  // As older versions wrote it.
  const auto before = signing::Provenance::parse("from redis://a\nby \nmade-from x\nsigned z:CCCC\n");
  CHECK(before == signing::Provenance::of_remote("redis://a", std::nullopt, "x", {"z:CCCC"}));
  // What is not known is not used where signatures are asked for, and handed on nowhere.
  signing::Policy policy;
  CHECK(policy.use(signing::Provenance::unknown()) == signing::Use::yes);
  CHECK(policy.share(signing::Provenance::unknown(), key).how == signing::Sharing::How::no);
  policy.level = signing::Level::signed_only;
  CHECK(policy.use(signing::Provenance::unknown()) == signing::Use::no);
}

TEST_CASE("a store on a full disk hands out what the remote has all the same") {
  const TemporaryFolder folder, mirror;
  const std::string url = "file://" + mirror.path().string();
  const Outgoing entry = entry_of(1);
  put(*tiers(folder / "writer", options_for(url)), entry);

  class FullDisk : public cache::FileLayer {
   public:
    ssize_t pwrite(int, const void*, size_t, off_t) override {
      errno = ENOSPC;
      return -1;
    }
  } full;
  REQUIRE(cache::Store::open(folder / "full", {}));  // made while there was room
  cache::StoreOptions local;
  local.files = &full;
  std::string warning;
  TierOptions options = options_for(url);
  options.warn = [&](std::string_view text) { warning = text; };
  const auto store = TieredStore::open(cache::Store::open(folder / "full", local).value(), std::move(options)).value();
  CHECK(whole(find(*store, entry.key), entry));
  CHECK_FALSE(warning.empty());
}

TEST_CASE("one lease for all machines: held, waited for, lost with its holder") {
  if (program("redis-server").empty()) {
    smelt::test::skipped("no redis-server");
    return;
  }
  const Redis server;
  const auto open = [&] { return Remotes::open({*parse_address(patient(server.url()))}).value(); };
  const auto first = open(), second = open();
  const Digest key = key_of(1);
  Leased held = first->lease(key, milliseconds(1000), {});
  REQUIRE(held.hold);
  CHECK_FALSE(held.waited);
  // Longer than a lease lasts: it is renewed.
  const Leased denied = second->lease(key, milliseconds(2500), {});
  CHECK_FALSE(denied.hold);
  CHECK(denied.waited);
  // That wait was for nothing, so this process waits for no lease for a while; another one does.
  CHECK_FALSE(second->lease(key_of(2), milliseconds(0), {}).hold);
  const auto third = open();
  CHECK(third->lease(key_of(2), milliseconds(0), {}).hold);
  held.hold.reset();
  {
    const Leased freed = third->lease(key, milliseconds(3000), {});
    CHECK(freed.hold);
    CHECK_FALSE(freed.waited);
  }
  // A wait ends as soon as the work is there.
  const Leased again = first->lease(key, milliseconds(3000), {});
  REQUIRE(again.hold);
  const Leased ready = third->lease(key, milliseconds(3000), [](Budget&) { return true; });
  CHECK(ready.waited);
  CHECK_FALSE(ready.hold);
}
