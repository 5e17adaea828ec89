// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Servers that would take a reader's time, memory or credentials: each way that they have, and what it costs.
#include "smelt/base/files.hpp"
#include "smelt/base/platform.hpp"
#include "smelt/base/text.hpp"
#include "smelt/remote/remotes.hpp"

#include "entries.hpp"
#include "fault_server.hpp"
#include "servers.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <zstd.h>

#include <mutex>
#include <thread>

using namespace smelt;
using namespace smelt::remote;
using namespace smelt::test;
using std::chrono::milliseconds;

namespace {

using Clock = std::chrono::steady_clock;
using Connection = FaultServer::Connection;

std::shared_ptr<Remote> open(const std::string& url, Remote::Warn warn = {}) {
  return Remote::open(parse_address(url).value(), std::move(warn)).value();
}

std::shared_ptr<Remotes> open_all(const std::vector<std::string>& urls, const Allowance& allowance = {},
                                  Remote::Warn warn = {}) {
  std::vector<Address> addresses;
  for (const std::string& url : urls) addresses.push_back(parse_address(url).value());
  return Remotes::open(addresses, std::move(warn), allowance).value();
}

template <class Work>
milliseconds time_of(Work&& work) {
  const auto began = Clock::now();
  work();
  return std::chrono::duration_cast<milliseconds>(Clock::now() - began);
}

/// Asks for twenty keys one after the other, as one compile.
milliseconds compile_with(Remotes& remotes) {
  return time_of([&] {
    const BudgetScope compile{remotes.allowance()};
    for (uint64_t id = 0; id < 20; ++id) {
      const Digest key = key_of(id);
      CHECK_FALSE(remotes.find(std::span(&key, 1), true)[0]);
    }
  });
}

// Two seconds, and what a busy machine adds. Without a budget each of these takes more than thirteen.
constexpr milliseconds kBudget{2000}, kAndABit{7000};

/// Sends the text, then a byte now and then, for as long as somebody listens.
void drip(Connection& connection, const std::string& text, milliseconds pause,
          milliseconds most = milliseconds(60000)) {
  connection.send(text);
  const auto end = Clock::now() + most;
  while (!*connection.ending && Clock::now() < end) {
    pollfd gone{connection.fd, POLLIN, 0};
    char byte = 0;
    if (::poll(&gone, 1, static_cast<int>(pause.count())) > 0 && ::recv(connection.fd, &byte, 1, 0) <= 0) return;
    if (::send(connection.fd, "x", 1, MSG_NOSIGNAL) != 1) return;
  }
}

/// Answers one request after another on a connection.
void talk(Connection& connection, const std::function<std::string()>& answer) {
  for (;;) {
    connection.send(answer());
    for (;;) {
      if (*connection.ending) return;
      pollfd more{connection.fd, POLLIN, 0};
      if (::poll(&more, 1, 20) > 0) break;
    }
    char bytes[65536];
    if (::recv(connection.fd, bytes, sizeof bytes, 0) <= 0) return;
  }
}

std::string not_found() {
  return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
}

/// A folder remote with entries of `parts` parts of zeros, `bytes` each, all out of one blob.
void fill(const std::filesystem::path& folder, uint64_t entries, size_t parts, uint64_t bytes) {
  const Bytes zeros(bytes);
  Bytes blob(ZSTD_compressBound(bytes));
  blob.resize(ZSTD_compress(blob.data(), blob.size(), zeros.data(), zeros.size(), 3));
  std::filesystem::create_directories(folder / "ac");
  std::filesystem::create_directories(folder / "cas");
  REQUIRE(write_file(folder / to_path({Space::cas, sha256(blob)}), blob));
  const Digest digest = sha256(zeros);
  for (uint64_t id = 0; id < entries; ++id) {
    schema::EntryRecord record;
    record.key = key_of(id);
    for (size_t i = 0; i < parts; ++i)
      record.parts.push_back(
          {fmt::format("part{:04}", i), bytes, digest, schema::Codec::zstd, blob.size(), sha256(blob)});
    REQUIRE(
        write_file(folder / to_path({Space::ac, record.key}), as_bytes(schema::write_entry_record(record).value())));
  }
}

std::vector<Digest> keys_to(uint64_t end) {
  std::vector<Digest> keys;
  for (uint64_t id = 0; id < end; ++id) keys.push_back(key_of(id));
  return keys;
}

size_t count_of(const std::vector<std::optional<Arrived>>& arrived) {
  return static_cast<size_t>(
      std::count_if(arrived.begin(), arrived.end(), [](const auto& one) { return one.has_value(); }));
}

/// What another host was sent, if anybody came.
class Thief {
 public:
  Thief()
      : server_([this](Connection& connection) {
          const std::lock_guard lock(mutex_);
          heard_ += connection.request;
          connection.send(not_found());
        }) {}
  std::string url() const { return server_.url(); }
  int visits() const { return server_.connections(); }
  std::string heard() {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

 private:
  std::mutex mutex_;
  std::string heard_;
  FaultServer server_;
};

}  // namespace

TEST_CASE("a folder's FIFO, socket, folder or device in the place of a file is damage, and nobody waits for it") {
  const TemporaryFolder folder;
  const Outgoing entry = entry_of(1);
  const std::string url = "file://" + folder.path().string();
  REQUIRE(open(url)->put(std::span(&entry, 1)));
  const auto record = folder.path() / to_path({Space::ac, entry.key});
  const auto blob = std::filesystem::directory_iterator(folder / "cas")->path();
  for (const auto& file : {record, blob}) {
    const Bytes whole = must_read(file);
    const auto is_damage = [&](const char* what) {
      CAPTURE(what);
      const auto remote = open(url);
      CHECK(time_of([&] { CHECK_FALSE(remote->find(std::span(&entry.key, 1), true)[0]); }) <
            milliseconds(20000));  // it waited for ever once
      CHECK(remote->statistics().damaged == 1);
      CHECK(remote->statistics().errors == 0);
      std::filesystem::remove_all(file);
    };
    std::filesystem::remove(file);
    REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
    is_damage("a FIFO");
    std::filesystem::create_directory(file);
    is_damage("a folder");
    std::filesystem::create_symlink("/dev/zero", file);
    is_damage("a device");
    std::filesystem::create_symlink(file, file);
    is_damage("a link to itself");
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // The path is too long for an address of a socket, so the link is.
    const auto named = folder / "s";
    named.string().copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    std::filesystem::rename(named, file);
    is_damage("a socket");
    ::close(fd);
    REQUIRE(write_file(file, whole));
  }
  // What is no file is replaced by what is put.
  std::filesystem::remove(blob);
  REQUIRE(::mkfifo(blob.c_str(), 0600) == 0);
  REQUIRE(open(url)->put(std::span(&entry, 1)));
  CHECK(open(url)->find(std::span(&entry.key, 1), true)[0]);
}

TEST_CASE("bytes that drip cost a compile two seconds, however many remotes send them") {
  const FaultServer body([](Connection& connection) {
    drip(connection, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", milliseconds(100));
  });
  const FaultServer headers(
      [](Connection& connection) { drip(connection, "HTTP/1.1 200 OK\r\nX: ", milliseconds(100)); });
  const FaultServer redis([](Connection& connection) { drip(connection, "*1\r\n$100000\r\n", milliseconds(100)); });
  for (const std::string& url : {body.url(), headers.url(), redis.url("redis")}) {
    CAPTURE(url);
    const auto remotes = open_all({url});
    CHECK(compile_with(*remotes) < kBudget + kAndABit);
    CHECK(remotes->statistics()[0].statistics.resting > 0);
  }
  const auto all = open_all({body.url(), headers.url(), redis.url("redis"), body.url() + "/other"});
  CHECK(compile_with(*all) < kBudget + kAndABit);
  // And as long as the caller says.
  Allowance little;
  little.waiting = milliseconds(300);
  CHECK(compile_with(*open_all({body.url(), redis.url("redis")}, little)) < little.waiting + kAndABit);
}

TEST_CASE("a server that takes long to say no, and never too long, rests as one that fails") {
  const FaultServer slow([](Connection& connection) {
    connection.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nX: ");
    for (int i = 0; i < 15; ++i) {
      std::this_thread::sleep_for(milliseconds(100));
      connection.send("x");
    }
    connection.send("\r\n\r\n");
  });
  std::string warning;
  const auto remotes = open_all({slow.url()}, {}, [&](std::string_view text) { warning = text; });
  CHECK(compile_with(*remotes) < kBudget + kAndABit);
  CHECK(remotes->statistics()[0].statistics.resting > 0);
  // On a busy machine it is the server's thread that is late.
  const bool stalled = warning.find("'stall'") != std::string::npos;
  CHECK_MESSAGE((stalled || warning.find("answers slowly and has nothing") != std::string::npos), warning);
}

TEST_CASE("a server that is far away and has nothing yet does not rest") {
  const FaultServer far([](Connection& connection) {
    talk(connection, [] {
      std::this_thread::sleep_for(milliseconds(30));
      return not_found();
    });
  });
  const auto remotes = open_all({far.url() + "?remember-misses=0ms"});
  for (int compile = 0; compile < 3; ++compile) CHECK(count_of(remotes->find(keys_to(400), true)) == 0);
  CHECK(remotes->statistics()[0].statistics.resting == 0);
  CHECK(remotes->statistics()[0].statistics.errors == 0);
}

TEST_CASE("waiting that led to something is not counted, and large answers may take their time") {
  const TemporaryFolder folder;
  const Outgoing entry = entry_of(1);
  const std::string url = "file://" + folder.path().string();
  REQUIRE(open(url)->put(std::span(&entry, 1)));
  Budget budget;
  budget.charge(std::chrono::seconds(100), 100000, 3, 3);
  CHECK_FALSE(budget.spent());
  budget.charge(std::chrono::seconds(3), 4, 2, 3);
  CHECK_FALSE(budget.spent());
  CHECK(budget.left() > milliseconds(900));
  budget.charge(std::chrono::seconds(3), 4, 2, 3);
  CHECK(budget.spent());
  // Nothing is asked once it is.
  const auto remote = open(url);
  CHECK_FALSE(remote->find(std::span(&entry.key, 1), true, &budget)[0]);
  CHECK(remote->statistics().round_trips == 0);
  CHECK(remote->find(std::span(&entry.key, 1), true)[0]);
  // Round trips are counted too, for servers that answer at once and never with anything.
  Budget trips;
  for (int i = 0; i < 1000; ++i) trips.charge(std::chrono::microseconds(50), 1, 0, 1);
  CHECK(trips.spent());
}

TEST_CASE("a lease without an end, or that nobody renews, is given up after two of its periods, once") {
  const auto given_up = [](const std::function<std::string()>& left) {
    const FaultServer server(
        [&](Connection& connection) { talk(connection, [&] { return "$-1\r\n:0\r\n:" + left() + "\r\n"; }); });
    std::vector<std::string> warnings;
    const auto remotes =
        open_all({server.url("redis")}, {}, [&](std::string_view text) { warnings.emplace_back(text); });
    const auto took = time_of([&] {
      const Leased leased = remotes->lease(key_of(1), milliseconds(120000), {});
      CHECK(leased.waited);
      CHECK_FALSE(leased.hold);
    });
    CHECK(took < milliseconds(3000) + kAndABit);
    CHECK(time_of([&] { remotes->lease(key_of(2), milliseconds(120000), {}); }) < kAndABit);
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find("nobody renews") != std::string::npos);
  };
  SUBCASE("no end") {
    given_up([] { return std::string("-1"); });
  }
  SUBCASE("an end that is far") {
    const auto began = Clock::now();
    given_up([&] {
      return std::to_string(100000 - std::chrono::duration_cast<milliseconds>(Clock::now() - began).count());
    });
  }
  SUBCASE("one that is renewed is waited for") {
    const auto began = Clock::now();
    const FaultServer server([&](Connection& connection) {
      talk(connection, [&] {
        const auto gone = std::chrono::duration_cast<milliseconds>(Clock::now() - began).count() % 500;
        return fmt::format("$-1\r\n:0\r\n:{}\r\n", 1500 - gone);
      });
    });
    const auto remotes = open_all({server.url("redis")});
    CHECK(time_of([&] { remotes->lease(key_of(1), milliseconds(3600), {}); }) >= milliseconds(3600));
  }
  SUBCASE("a server that drips while it is waited for") {
    std::atomic<int> asked{0};
    const FaultServer server([&](Connection& connection) {
      if (++asked == 1) talk(connection, [] { return std::string("$-1\r\n:0\r\n:1500\r\n"); });
      drip(connection, "*1\r\n$100000\r\n", milliseconds(100));
    });
    const auto remotes = open_all({server.url("redis")});
    const auto ready = [&](Budget& budget) {
      const Digest key = key_of(1);
      return remotes->find(std::span(&key, 1), true, &budget)[0].has_value();
    };
    CHECK(time_of([&] { remotes->lease(key_of(1), milliseconds(120000), ready); }) < milliseconds(4000) + kAndABit);
  }
}

TEST_CASE("a small blob under many names fills neither a call nor the process") {
  const TemporaryFolder folder;
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  fill(folder.path(), 40, 1, kMiB);
  const std::string url = "file://" + folder.path().string();
  Allowance allowance;
  allowance.part_bytes = 4 * kMiB;
  const auto keys = keys_to(40);
  {
    const auto remotes = open_all({url}, allowance);
    CHECK(count_of(remotes->find(keys, true)) == 4);
    // What did not fit is there for the next call.
    CHECK(count_of(remotes->find(std::span(keys).subspan(4, 4), true)) == 4);
  }
  allowance.part_bytes = 64 * kMiB;
  allowance.process_bytes = 32 * kMiB;
  const auto remotes = open_all({url}, allowance);
  std::vector<std::vector<std::optional<Arrived>>> held;
  size_t count = 0;
  for (size_t first = 0; first < 40; first += 8) {
    held.push_back(remotes->find(std::span(keys).subspan(first, 8), true));
    count += count_of(held.back());
  }
  CHECK(count >= 16);
  CHECK(count < 32);
  held.clear();
  CHECK(count_of(remotes->find(std::span(keys).subspan(32, 8), true)) == 8);
}

TEST_CASE("with what is usual, forty names of a bomb cost less than a gigabyte") {
  const TemporaryFolder folder;
  fill(folder.path(), 40, 1, uint64_t{90} << 20);
  Allowance allowance;
  allowance.waiting = std::chrono::minutes(5);  // of a busy machine
  const auto remotes = open_all({"file://" + folder.path().string()}, allowance);
  const auto found = remotes->find(keys_to(40), true);
  uint64_t bytes = 0;
  for (const auto& one : found)
    if (one) bytes += one->parts[0].bytes.size();
  CHECK(count_of(found) == 5);
  CHECK(bytes < uint64_t{512} << 20);
}

TEST_CASE("who waits for an entry is asked before each piece of it that is unpacked") {
  const TemporaryFolder folder;
  fill(folder.path(), 1, 2, uint64_t{64} << 20);
  const auto remotes = open_all({"file://" + folder.path().string()});
  unsigned asked = 0;
  uint64_t least = 0, most = 0;
  const BudgetScope compile{remotes->allowance(), [&]() -> Result<void> {
                              most = platform::memory_use().resident;
                              if (least == 0) least = most;
                              return ++asked <= 9 ? Result<void>() : fail(Errc::cancelled, "enough");
                            }};
  CHECK(count_of(remotes->find(keys_to(1), true)) == 0);
  CHECK(asked == 10);
#ifndef SMELT_SANITIZED
  CHECK(most - least < uint64_t{20} << 20);
#endif
  CHECK(remotes->statistics()[0].statistics.damaged == 0);
}

TEST_CASE("a bomb takes no longer to unpack than a server may take to answer") {
  const TemporaryFolder folder;
  fill(folder.path(), 1, 2, uint64_t{250} << 20);
  Allowance allowance;
  allowance.waiting = milliseconds(20);
  const auto remotes = open_all({"file://" + folder.path().string()}, allowance);
  CHECK(count_of(remotes->find(keys_to(1), true)) == 0);
  CHECK(remotes->statistics()[0].statistics.damaged == 0);
}

TEST_CASE("records that claim much, or are large themselves, are bounded by what a call may have") {
  const TemporaryFolder folder;
  // 4,000 parts a record, 700 kB of text.
  fill(folder.path(), 40, 4000, 400);
  Allowance allowance;
  allowance.record_bytes = uint64_t{4} << 20;
  const auto keys = keys_to(40);
  const auto remotes = open_all({"file://" + folder.path().string()}, allowance);
  const size_t found = count_of(remotes->find(keys, true));
  CHECK(found > 0);
  CHECK(found < 8);
  // The same from servers, which send without being told how much.
  const std::string record(size_t{1} << 20, 'r');
  const FaultServer http([&](Connection& connection) {
    connection.send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", record.size(), record));
  });
  std::string warning;
  const auto warn = [&](std::string_view text) { warning = text; };
  for (const std::string& url : {http.url() + "?budget=1m&stall=5s&timeout=20s"}) {
    const auto bounded = open_all({url}, allowance, warn);
    CHECK(count_of(bounded->find(keys, true)) == 0);
    CHECK(bounded->statistics()[0].statistics.bytes_read <= allowance.record_bytes);
    CHECK(bounded->statistics()[0].statistics.errors == 1);
  }
  const FaultServer redis([&](Connection& connection) {
    connection.send("*40\r\n");
    for (int i = 0; i < 40; ++i) connection.send(fmt::format("${}\r\n{}\r\n", record.size(), record));
  });
  const auto bounded = open_all({redis.url("redis") + "?budget=1m&stall=5s&timeout=20s"}, allowance, warn);
  CHECK(count_of(bounded->find(keys, true)) == 0);
  CHECK(bounded->statistics()[0].statistics.errors == 1);
}

TEST_CASE("headers and error pages without an end are cut off") {
  const auto endless = [](const std::string& begin, const std::string& more) {
    std::atomic<uint64_t> sent{0};
    const FaultServer server([&](Connection& connection) {
      connection.send(begin);
      while (!*connection.ending && sent < uint64_t{64} << 20) {
        if (::send(connection.fd, more.data(), more.size(), MSG_NOSIGNAL) <= 0) return;
        sent += more.size();
      }
    });
    const auto remote = open(server.url() + "?timeout=20s&budget=1m");
    const Digest key = key_of(1);
    CHECK_FALSE(remote->find(std::span(&key, 1), true)[0]);
    CHECK(remote->statistics().errors == 1);
    CHECK(sent < uint64_t{32} << 20);
  };
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += fmt::format("X-{}: {}\r\n", i, std::string(500, 'x'));
  endless("HTTP/1.1 200 OK\r\n", lines);
  endless("HTTP/1.1 404 Not Found\r\nContent-Length: 9000000000\r\n\r\n", std::string(50000, 'p'));
  std::string informs;
  for (int i = 0; i < 100; ++i) informs += "HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n";
  endless("", informs);
}

TEST_CASE("an answer whose first header begins with a space is not a part of the answer before it") {
  std::atomic<int> asked{0};
  const FaultServer server([&](Connection& connection) {
    if (asked++ % 2 == 0)
      connection.send("HTTP/1.1 404 Not Found\r\nX-First: " + std::string(100, 'x') + "\r\nContent-Length: 0\r\n\r\n");
    else
      connection.send("HTTP/1.1 200 OK\r\n y: " + std::string(300, 'y') + "\r\nContent-Length: 0\r\n\r\n");
  });
  const auto remote = open(server.url() + "?rest=1ms");
  for (uint64_t id = 0; id < 40; ++id) {
    const Digest key = key_of(id);
    CHECK_FALSE(remote->find(std::span(&key, 1), true)[0]);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  CHECK(remote->statistics().errors >= 10);
}

TEST_CASE("no credential of ours goes to another host, and S3 follows nothing") {
  Thief thief;
  const FaultServer server([&](Connection& connection) {
    connection.send(
        fmt::format("HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\nLocation: {}/there\r\n\r\n", thief.url()));
  });
  const std::string host = server.url().substr(server.url().find("//") + 2);
  const TemporaryFolder folder;
  REQUIRE(write_file(folder / "token", as_bytes("hidden-token\n")));
  const auto ask = [](const std::string& url) {
    std::string warning;
    const auto remote = open(url, [&](std::string_view text) { warning = text; });
    for (uint64_t id = 0; id < 3; ++id) {
      const Digest key = key_of(id);
      CHECK_FALSE(remote->find(std::span(&key, 1), true)[0]);
    }
    const Outgoing entry = entry_of(7);
    CHECK_FALSE(remote->put(std::span(&entry, 1)));
    return warning;
  };
  ask("http://" + host + "?token-file=" + (folder / "token").string());
  ask("http://hidden-user:hidden-password@" + host);
  CHECK(thief.heard().find("hidden") == std::string::npos);
  CHECK(thief.heard().find("Authorization") == std::string::npos);
  CHECK(thief.visits() > 0);  // it is followed, without them

  const int before = thief.visits();
  ask("http://" + host + "?cert-file=/none&key-file=/none");
  ::setenv("AWS_ACCESS_KEY_ID", "hidden-id", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "hidden-secret", 1);
  ::setenv("AWS_SESSION_TOKEN", "hidden-session", 1);
  const std::string warning = ask("s3://bucket?endpoint=" + server.url());
  ::unsetenv("AWS_ACCESS_KEY_ID");
  ::unsetenv("AWS_SECRET_ACCESS_KEY");
  ::unsetenv("AWS_SESSION_TOKEN");
  CHECK(thief.visits() == before);
  CHECK(thief.heard().find("hidden") == std::string::npos);
  CHECK_MESSAGE(warning.find("redirect") != std::string::npos, warning);
}

TEST_CASE("what a server says steers no terminal, and makes no second line of a warning") {
  const std::string words = "ERR \x1b]0;owned\x07\x1b[31m\xc2\x9b red\xff " + std::string(1500, 'e');
  for (const bool at_login : {true, false}) {
    const FaultServer server([&](Connection& connection) {
      talk(connection, [&] { return "-" + words + "\r\n-" + words + "\r\n-ERR\r\n"; });
    });
    std::vector<std::string> warnings;
    const std::string host = server.url("redis").substr(8);
    const auto remote = open((at_login ? "redis://:secret@" : "redis://") + host,
                             [&](std::string_view text) { warnings.emplace_back(text); });
    for (uint64_t id = 0; id < 5; ++id) {
      const Digest key = key_of(id);
      CHECK_FALSE(remote->find(std::span(&key, 1), true)[0]);
    }
    const auto taken = open(server.url("redis"))->take({"name", "holder", milliseconds(1000)});
    REQUIRE_FALSE(taken);
    warnings.push_back(taken.error().message);
    REQUIRE(warnings.size() == 2);
    for (const std::string& text : warnings) {
      CHECK_MESSAGE(text.find("ERR") != std::string::npos, text);
      CHECK(printable(text) == text);
      CHECK(text.find('\n') == std::string::npos);
      CHECK(text.size() < 1000);
    }
  }
}
