// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Servers that are absent, slow, broken or lying: never wrong bytes, never a long wait.
#include "smelt/base/files.hpp"
#include "smelt/remote/remotes.hpp"

#include "entries.hpp"
#include "fault_server.hpp"
#include "servers.hpp"
#include "skips.hpp"

#include <doctest/doctest.h>
#include <zstd.h>

#include <fstream>
#include <thread>

using namespace smelt;
using namespace smelt::remote;
using namespace smelt::test;
using std::chrono::milliseconds;

namespace {

using Clock = std::chrono::steady_clock;

std::shared_ptr<Remote> open_as_it_is(const std::string& url, Remote::Warn warn = {}) {
  auto address = parse_address(url);
  if (!address) FAIL(address.error().message);
  auto remote = Remote::open(*address, std::move(warn));
  if (!remote) FAIL(remote.error().message);
  return std::move(*remote);
}

/// With more patience than usual: what is tested is not how long it lasts.
std::shared_ptr<Remote> open(const std::string& url, Remote::Warn warn = {}) {
  return open_as_it_is(patient(url), std::move(warn));
}

bool finds(Remote& remote, const Digest& key) {
  return remote.find(std::span(&key, 1), true)[0].has_value();
}

/// Asks twenty times for other keys; how long all that took.
milliseconds cost_of(Remote& remote) {
  const auto began = Clock::now();
  for (uint64_t id = 0; id < 20; ++id) CHECK_FALSE(finds(remote, key_of(id)));
  return std::chrono::duration_cast<milliseconds>(Clock::now() - began);
}

// One second when the machine is idle. Were each of twenty calls to wait, it would be twenty: what is between is for a
// machine that is busy.
constexpr milliseconds kMost{10000};

std::string ok(const std::string& body, const std::string& more = "") {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{}\r\n{}", body.size(), more, body);
}
std::string status(const std::string& line, const std::string& more = "") {
  return "HTTP/1.1 " + line + "\r\nContent-Length: 0\r\n" + more + "\r\n";
}

/// A folder with one entry, whose files a test may spoil.
struct Mirror {
  TemporaryFolder folder;
  Outgoing entry = entry_of(5);
  std::string url() const { return "file://" + folder.path().string(); }
  Mirror() {
    const auto put = open(url())->put(std::span(&entry, 1));
    if (!put) FAIL(put.error().message);
  }
  std::filesystem::path record() const { return folder.path() / to_path({Space::ac, entry.key}); }
  std::vector<std::filesystem::path> blobs() const {
    std::vector<std::filesystem::path> found;
    for (const auto& file : std::filesystem::directory_iterator(folder / "cas")) found.push_back(file.path());
    return found;
  }
};

}  // namespace

TEST_CASE("a dead server costs a process at most a second") {
  const auto costs_little = [](const std::string& url) {
    CAPTURE(url);
    int warned = 0;
    const auto remote = open_as_it_is(url, [&](std::string_view) { ++warned; });
    CHECK(cost_of(*remote) < kMost);
    CHECK(warned == 1);
    CHECK(remote->statistics().resting > 0);
    CHECK(remote->statistics().hits == 0);
  };
  const uint16_t nobody = free_port();
  for (const char* scheme : {"http", "https", "redis", "rediss"})
    costs_little(fmt::format("{}://127.0.0.1:{}", scheme, nobody));
  // Accepts and says nothing; and in the middle of what it says.
  const FaultServer silent([](FaultServer::Connection& connection) { connection.stall(); });
  for (const char* scheme : {"http", "https", "redis", "rediss"}) costs_little(silent.url(scheme));
  const FaultServer stalls([](FaultServer::Connection& connection) {
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome");
    connection.stall();
  });
  costs_little(stalls.url());
  const FaultServer half_reply([](FaultServer::Connection& connection) {
    connection.send("*1\r\n$1000\r\nsome");
    connection.stall();
  });
  costs_little(half_reply.url("redis"));
}

TEST_CASE("a name that nobody resolves costs a process at most a second") {
  // .invalid never exists (RFC 6761); where no name server answers, that takes its time, and that time counts.
  const auto remote = open_as_it_is("http://nobody.invalid/cache");
  CHECK(cost_of(*remote) < kMost);
}

TEST_CASE("answers cut short, too long, or of no kind are misses") {
  const auto misses = [](const std::string& url) {
    CAPTURE(url);
    const auto remote = open(url);
    CHECK_FALSE(finds(*remote, key_of(1)));
    const Statistics counts = remote->statistics();
    CHECK(counts.errors + counts.damaged == 1);
  };
  const FaultServer cut([](FaultServer::Connection& connection) {
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome of it");
  });
  misses(cut.url());
  const FaultServer chunked([](FaultServer::Connection& connection) {
    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n400\r\nsome of it");
  });
  misses(chunked.url());
  const FaultServer endless([](FaultServer::Connection& connection) {
    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string chunk = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
    for (int i = 0; i < 64; ++i) connection.send(chunk);
  });
  misses(endless.url());
  const FaultServer garbage(
      [](FaultServer::Connection& connection) { connection.send("\x16\x03\x01 what is this?\r\n"); });
  misses(garbage.url("redis"));
  const FaultServer huge_array([](FaultServer::Connection& connection) { connection.send("*2000000000\r\n"); });
  misses(huge_array.url("redis"));
  const FaultServer huge_text([](FaultServer::Connection& connection) {
    connection.send("*1\r\n$400000000\r\n");
    for (int i = 0; i < 64; ++i) connection.send(std::string(0x10000, 'x'));
  });
  misses(huge_text.url("redis"));
  const FaultServer page([](FaultServer::Connection& connection) { connection.send(ok("<html>Sign in</html>")); });
  misses(page.url());
}

TEST_CASE("redirects are followed a little, never from https to http, never for ever") {
  std::atomic<int> asked{0};
  FaultServer* self = nullptr;
  FaultServer round([&](FaultServer::Connection& connection) {
    ++asked;
    connection.send(status("302 Found", fmt::format("Location: {}/again\r\n", self->url())));
  });
  self = &round;
  const auto remote = open(round.url());
  CHECK_FALSE(finds(*remote, key_of(1)));
  CHECK(asked <= 4);
  CHECK(remote->statistics().errors == 1);
}

TEST_CASE("404 and 403 are misses and nothing more") {
  for (const char* line : {"404 Not Found", "403 Forbidden", "410 Gone"}) {
    const FaultServer server([&](FaultServer::Connection& connection) { connection.send(status(line)); });
    const auto remote = open(server.url());
    for (uint64_t id = 0; id < 5; ++id) CHECK_FALSE(finds(*remote, key_of(id)));
    CHECK(remote->statistics().errors == 0);
    CHECK(remote->statistics().resting == 0);
    CHECK(remote->statistics().misses == 5);
  }
}

TEST_CASE("429 and 5xx rest a remote at once; Retry-After says how long") {
  for (const char* line : {"429 Too Many Requests", "500 Internal Server Error", "503 Service Unavailable"}) {
    CAPTURE(line);
    const FaultServer server([&](FaultServer::Connection& connection) { connection.send(status(line)); });
    const auto remote = open(server.url());
    for (uint64_t id = 0; id < 5; ++id) CHECK_FALSE(finds(*remote, key_of(id)));
    CHECK(server.connections() == 1);
    CHECK(remote->statistics().errors == 1);
  }
  std::atomic<bool> busy{true};
  const FaultServer server([&](FaultServer::Connection& connection) {
    connection.send(busy ? status("503 Service Unavailable", "Retry-After: 1\r\n") : status("404 Not Found"));
  });
  auto remotes = std::move(*Remotes::open({*parse_address(server.url())}));
  const Digest key = key_of(1);
  remotes->find(std::span(&key, 1), true);
  busy = false;
  std::this_thread::sleep_for(milliseconds(400));
  remotes->find(std::span(&key, 1), true);
  CHECK(server.connections() == 1);  // it asked for a second
  std::this_thread::sleep_for(milliseconds(700));
  remotes->find(std::span(&key, 1), true);  // has a probe made, and does not wait for it
  for (int i = 0; i < 100 && server.connections() < 2; ++i) std::this_thread::sleep_for(milliseconds(10));
  CHECK(server.connections() == 2);
  std::this_thread::sleep_for(milliseconds(50));
  remotes->find(std::span(&key, 1), true);
  CHECK(server.connections() == 3);
}

TEST_CASE("three failures in a row rest a remote; a success in between starts again") {
  std::atomic<int> asked{0};
  const FaultServer server([&](FaultServer::Connection& connection) {
    if (++asked % 3 == 0) connection.send(status("404 Not Found"));  // else it hangs up
  });
  const auto remote = open(server.url());
  for (uint64_t id = 0; id < 9; ++id) finds(*remote, key_of(id));
  CHECK(remote->statistics().resting == 0);
  CHECK(remote->statistics().errors == 6);
}

TEST_CASE("a resting remote is tried again, in the background, and used when it is back") {
  Redis server;
  const Outgoing entry = entry_of(1);
  REQUIRE(open(server.url())->put(std::span(&entry, 1)));
  auto remotes = std::move(*Remotes::open({*parse_address(server.url() + "?rest=200ms")}));
  const auto found = [&] { return remotes->find(std::span(&entry.key, 1), true)[0].has_value(); };
  CHECK(found());
  server.stop();
  for (int i = 0; i < 6; ++i) CHECK_FALSE(found());
  server.start();
  REQUIRE(open(server.url())->put(std::span(&entry, 1)));
  std::this_thread::sleep_for(milliseconds(250));
  bool back = false;
  for (int i = 0; i < 100 && !back; ++i) {
    back = found();
    std::this_thread::sleep_for(milliseconds(10));
  }
  CHECK(back);
}

TEST_CASE("a server restarted between two calls is no failure") {
  Redis server;
  const Outgoing entry = entry_of(1);
  const auto remote = open(server.url());
  REQUIRE(remote->put(std::span(&entry, 1)));
  server.stop();
  server.start();
  REQUIRE(remote->put(std::span(&entry, 1)));
  server.stop();
  server.start();
  CHECK_FALSE(finds(*remote, key_of(2)));
  CHECK(remote->statistics().errors == 0);
}

TEST_CASE("a WebDAV server without the folders: who writes is told to make them") {
  const FaultServer server([](FaultServer::Connection& connection) { connection.send(status("409 Conflict")); });
  const Outgoing entry = entry_of(1);
  const auto put = open(server.url())->put(std::span(&entry, 1));
  REQUIRE_FALSE(put);
  CHECK(put.error().message.find("create the folders 'ac' and 'cas' first") != std::string::npos);
}

TEST_CASE("a full server takes nothing more and goes on giving") {
  Redis server({"--maxmemory", "3mb", "--maxmemory-policy", "noeviction"});
  const auto remote = open(server.url());
  const Outgoing small = entry_of(1);
  REQUIRE(remote->put(std::span(&small, 1)));
  Outgoing large = entry_of(2);
  bool refused = false;
  for (uint64_t id = 2; id < 12 && !refused; ++id) {
    large.key = key_of(id);
    large.parts[0].bytes = payload(id, size_t{1} << 20);
    refused = !remote->put(std::span(&large, 1));
  }
  CHECK(refused);
  CHECK_FALSE(remote->takes_puts());
  CHECK(finds(*remote, small.key));
  // The blob was refused, so no record speaks of it.
  CHECK_FALSE(finds(*remote, large.key));
}

TEST_CASE("a batch that is broken off leaves whole entries") {
  Redis server({"--maxmemory", "3mb", "--maxmemory-policy", "noeviction"});
  const auto remote = open(server.url());
  std::vector<Outgoing> batch;
  for (uint64_t id = 0; id < 300; ++id) {
    batch.push_back(entry_of(id));
    batch.back().parts[0].bytes = payload(id, 20000);
  }
  size_t sent = 0;
  CHECK_FALSE(remote->put(batch, nullptr, &sent));
  CHECK(sent >= 64);
  CHECK(sent < batch.size());
  for (size_t i = 0; i < sent; ++i) CHECK(finds(*remote, batch[i].key));
}

TEST_CASE("wrong credentials: a clear warning, one answer, no more asking") {
  const auto refused = [](const std::string& url, const std::string& word) {
    CAPTURE(url);
    std::string warning;
    const auto remote = open(url, [&](std::string_view text) { warning = text; });
    for (uint64_t id = 0; id < 5; ++id) CHECK_FALSE(finds(*remote, key_of(id)));
    CHECK_MESSAGE(warning.find(word) != std::string::npos, warning);
    CHECK(warning.find("wrong-password") == std::string::npos);
  };
  if (!program("nginx").empty()) {
    const auto server = start_nginx_plain();
    const std::string url = server->url();
    refused(url.substr(0, url.find('?')), "token-file");
  }
  if (!program("lighttpd").empty()) {
    const auto server = start_lighttpd();
    // lighttpd waits before it says no.
    const std::string rest = server->url().substr(server->url().find('@') + 1);
    refused(
        "http://ci:wrong-password@" + rest + (rest.find('?') == std::string::npos ? "?" : "&") + "stall=2s&timeout=3s",
        "credentials");
  }
  if (!program("redis-server").empty()) {
    const auto server = start_redis();
    refused("redis://:wrong-password@" + server->url().substr(server->url().find('@') + 1), "refuses us");
  }
}

TEST_CASE("s3: who is not known gets nothing and gives nothing") {
  for (const ServerKind& kind : server_kinds()) {
    if (kind.name != "s3") continue;
    const auto server = kind.start();
    const Outgoing entry = entry_of(1);
    REQUIRE(open(server->url())->put(std::span(&entry, 1)));
    ::setenv("AWS_ACCESS_KEY_ID", "another", 1);
    const auto remote = open(server->url());
    CHECK_FALSE(finds(*remote, entry.key));
    const Outgoing other = entry_of(2);
    CHECK_FALSE(remote->put(std::span(&other, 1)));
    ::setenv("AWS_ACCESS_KEY_ID", "S3RVER", 1);
    CHECK_FALSE(finds(*open(server->url()), other.key));
  }
}

TEST_CASE("certificates: unknown authority, another host, expired, none of ours") {
  if (program("nginx").empty() || program("openssl").empty()) {
    smelt::test::skipped("no nginx or no openssl");
    return;
  }
  const auto server = start_nginx();
  const std::string url = server->url();
  const auto fails = [](const std::string& to, const std::string& word) {
    CAPTURE(to);
    std::string warning;
    const auto remote = open(to, [&](std::string_view text) { warning = text; });
    for (uint64_t id = 0; id < 3; ++id) CHECK_FALSE(finds(*remote, key_of(id)));
    CAPTURE(warning);
    CHECK_MESSAGE(warning.find(word) != std::string::npos, warning);
  };
  const std::string bare = url.substr(0, url.find('?'));
  fails(bare, "certificate");
  // Reading needs no certificate of ours, writing does.
  const std::string authority = url.substr(url.find("ca-file="), url.find('&') - url.find("ca-file="));
  const auto reader = open(bare + "?" + authority);
  const Outgoing entry = entry_of(1);
  const auto put = reader->put(std::span(&entry, 1));
  REQUIRE_FALSE(put);
  CHECK(put.error().message.find("403") != std::string::npos);
  REQUIRE(open(url)->put(std::span(&entry, 1)));
  CHECK(finds(*reader, entry.key));

  const TemporaryFolder folder;
  const Certificates certificates(folder.path());
  const uint16_t port = free_port();
  const Process redis({program("redis-server"), "--port", "0", "--tls-port", std::to_string(port), "--bind",
                       "127.0.0.1", "--tls-auth-clients", "no", "--tls-cert-file", certificates.path("expired.pem"),
                       "--tls-key-file", certificates.path("expired.key"), "--tls-ca-cert-file",
                       certificates.path("authority.pem"), "--save", "", "--dir", folder.path().string()},
                      folder / "log");
  redis.wait_for(port);
  fails(fmt::format("rediss://127.0.0.1:{}?ca-file={}", port, certificates.path("authority.pem")), "expired");

  // A good certificate of the trusted authority, for another name than the one asked for.
  const uint16_t named_port = free_port();
  const Process named({program("redis-server"),
                       "--port",
                       "0",
                       "--tls-port",
                       std::to_string(named_port),
                       "--bind",
                       "127.0.0.1",
                       "127.0.0.2",
                       "--tls-auth-clients",
                       "no",
                       "--tls-cert-file",
                       certificates.path("server.pem"),
                       "--tls-key-file",
                       certificates.path("server.key"),
                       "--tls-ca-cert-file",
                       certificates.path("authority.pem"),
                       "--save",
                       "",
                       "--dir",
                       folder.path().string()},
                      folder / "named-log");
  named.wait_for(named_port);
  const std::string with = fmt::format(":{}?ca-file={}", named_port, certificates.path("authority.pem"));
  const auto right = open("rediss://127.0.0.1" + with);
  CHECK_FALSE(finds(*right, key_of(1)));
  CHECK(right->statistics().errors == 0);
  for (const char* scheme : {"rediss", "https"}) fails(fmt::format("{}://127.0.0.2{}", scheme, with), "127.0.0.2");
}

TEST_CASE("spoiled bytes are never handed out: bits, lengths, swaps") {
  SUBCASE("a bit of any blob") {
    const Mirror mirror;
    for (const auto& file : mirror.blobs()) {
      Bytes bytes = must_read(file);
      const Bytes whole = bytes;
      bytes[bytes.size() / 2] ^= std::byte{4};
      REQUIRE(write_file(file, bytes));
      const auto remote = open(mirror.url());
      CHECK_FALSE(finds(*remote, mirror.entry.key));
      CHECK(remote->statistics().damaged == 1);
      REQUIRE(write_file(file, whole));
    }
    CHECK(finds(*open(mirror.url()), mirror.entry.key));
  }
  SUBCASE("a blob cut, or longer") {
    const Mirror mirror;
    const auto file = mirror.blobs().front();
    const Bytes whole = must_read(file);
    REQUIRE(write_file(file, ByteView(whole).first(whole.size() / 2)));
    CHECK_FALSE(finds(*open(mirror.url()), mirror.entry.key));
    Bytes longer = whole;
    longer.push_back(std::byte{0});
    REQUIRE(write_file(file, longer));
    CHECK_FALSE(finds(*open(mirror.url()), mirror.entry.key));
  }
  SUBCASE("every prefix of the record") {
    const Mirror mirror;
    const Bytes whole = must_read(mirror.record());
    for (size_t size = 0; size < whole.size(); size += 7) {
      REQUIRE(write_file(mirror.record(), ByteView(whole).first(size)));
      CHECK_FALSE(finds(*open(mirror.url()), mirror.entry.key));
    }
  }
  SUBCASE("another key's record") {
    const Mirror mirror;
    const Outgoing other = entry_of(6);
    REQUIRE(open(mirror.url())->put(std::span(&other, 1)));
    REQUIRE(write_file(mirror.record(), must_read(mirror.folder.path() / to_path({Space::ac, other.key}))));
    const auto remote = open(mirror.url());
    CHECK_FALSE(finds(*remote, mirror.entry.key));
    CHECK(remote->statistics().damaged == 1);
    CHECK(finds(*remote, other.key));
  }
  SUBCASE("blobs swapped with each other") {
    const Mirror mirror;
    const auto files = mirror.blobs();
    REQUIRE(files.size() == 2);
    const Bytes first = must_read(files[0]), second = must_read(files[1]);
    REQUIRE(write_file(files[0], second));
    REQUIRE(write_file(files[1], first));
    CHECK_FALSE(finds(*open(mirror.url()), mirror.entry.key));
  }
  SUBCASE("a record whose blobs are gone is a miss") {
    const Mirror mirror;
    std::filesystem::remove(mirror.blobs().front());
    const auto remote = open(mirror.url());
    CHECK_FALSE(finds(*remote, mirror.entry.key));
    CHECK(remote->statistics().damaged == 0);
    CHECK(remote->statistics().misses == 1);
  }
}

TEST_CASE("a zstd bomb is refused before it unfolds") {
  const Mirror mirror;
  // 200 MB of zeros in a few kB, behind a record that promises 100 bytes; then one that promises them all and lies
  // about what they hash to.
  const Bytes zeros(size_t{200} << 20);
  Bytes bomb(ZSTD_compressBound(zeros.size()));
  bomb.resize(ZSTD_compress(bomb.data(), bomb.size(), zeros.data(), zeros.size(), 3));
  CHECK(bomb.size() < 100'000);
  for (const uint64_t promised : {uint64_t{100}, uint64_t{zeros.size()}}) {
    schema::EntryRecord record;
    record.key = mirror.entry.key;
    record.parts.push_back(
        {"kernel", promised, sha256(as_bytes("else")), schema::Codec::zstd, bomb.size(), sha256(bomb)});
    REQUIRE(write_file(mirror.record(), as_bytes(schema::write_entry_record(record).value())));
    REQUIRE(write_file(mirror.folder.path() / to_path({Space::cas, sha256(bomb)}), bomb));
    const auto remote = open(mirror.url());
    CHECK_FALSE(finds(*remote, mirror.entry.key));
    CHECK(remote->statistics().damaged == 1);
  }
  // And no record may promise more than any part may have.
  schema::EntryRecord record;
  record.key = mirror.entry.key;
  record.parts.push_back({"kernel", uint64_t{1} << 40, sha256(zeros), schema::Codec::zstd, 1, sha256(bomb)});
  CHECK_FALSE(schema::write_entry_record(record));
}

TEST_CASE("a folder that is not there rests, and is not taken for an empty one") {
  const auto remote = open("file:///nonexistent/smelt");
  for (uint64_t id = 0; id < 5; ++id) CHECK_FALSE(finds(*remote, key_of(id)));
  CHECK(remote->statistics().errors == 3);
}

TEST_CASE("puts to a server that stalls are dropped at the end, and hold up no reader") {
  const FaultServer stalls([](FaultServer::Connection& connection) {
    if (connection.request.starts_with("GET")) return connection.send(status("404 Not Found"));
    connection.stall();
  });
  const auto began = Clock::now();
  {
    std::string said;
    auto remotes = std::move(*Remotes::open({*parse_address(stalls.url() + "?stall=1m&budget=1m&timeout=5m")},
                                            [&](std::string_view text) { said = text; }));
    for (uint64_t id = 0; id < 4; ++id) remotes->put_later({entry_of(id)});
    const Digest key = key_of(77);
    CHECK_FALSE(remotes->find(std::span(&key, 1))[0]);  // answered while the puts still stall
    remotes->end();
    CHECK(remotes->statistics()[0].statistics.dropped == 4);
    CHECK(said.find("4 entries were not sent") != std::string::npos);
  }
  CHECK(Clock::now() - began < milliseconds(20000));  // the servers stall for a minute
}

TEST_CASE("URLs say what is wrong with them, and keep secrets to themselves") {
  const auto message = [](const char* url) {
    const auto address = parse_address(url);
    REQUIRE_FALSE(address);
    return address.error().message;
  };
  CHECK(message("ftp://host/x").find("redis(s)://") != std::string::npos);
  CHECK(message("https://host/x?timeuot=2s").find("the options are") != std::string::npos);
  CHECK(message("https://host/x?timeout=2").find("300ms") != std::string::npos);
  CHECK(message("redis://host/name").find("database number") != std::string::npos);
  CHECK(message("https://host/x?cert-file=/a").find("go together") != std::string::npos);
  CHECK(message("https://user:hidden@host/x?nothing=1").find("hidden") == std::string::npos);
  const Address address = parse_address("https://me:pass%20word@host:8443/base/?read-only&timeout=2s&ttl=7d").value();
  CHECK(address.shown == "https://host:8443/base");
  CHECK(address.password == "pass word");
  CHECK(address.read_only);
  CHECK(address.timeout == milliseconds(2000));
  CHECK(address.ttl == std::chrono::hours(7 * 24));
  CHECK(parse_addresses("file:///a  redis://b ")->size() == 2);
}
