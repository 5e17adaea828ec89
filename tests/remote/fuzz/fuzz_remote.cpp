// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hostile servers on the loopback address: what HTTP and Redis remotes answer, and the records and blobs of a folder,
// changed in every layer. Whatever comes of it is a miss, or parts that are what the record says, in time, and with
// nothing in a warning that steers a terminal.
//
//   fuzz_remote --seconds 3600 --first 1
//
// A server is known by its number: --only N tries it alone. Exit status: 0 no finding, 1 findings.
#include "smelt/base/files.hpp"
#include "smelt/base/text.hpp"
#include "smelt/remote/remotes.hpp"

#include "../../service/fuzz/bytes.hpp"
#include "../entries.hpp"
#include "../loopback_server.hpp"
#include "files.hpp"

#include <CLI/CLI.hpp>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <map>

using namespace smelt;
using namespace smelt::remote;
using namespace smelt::test;
using Clock = std::chrono::steady_clock;
using Random = std::mt19937_64;
using std::chrono::milliseconds;

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kEntries = 3;
constexpr milliseconds kLongest{4000};  // two seconds, on a busy machine

bool chance(Random& random, unsigned in) {
  return random() % in == 0;
}

/// Records by their key, blobs by their name, as a server has them.
struct Served {
  std::map<std::string, Bytes> files;  // "ac/...", "cas/..."
};

/// What honest writers put.
Served honest() {
  const TemporaryFolder folder;
  const auto remote = Remote::open(parse_address("file://" + folder.path().string()).value()).value();
  for (uint64_t id = 0; id < kEntries; ++id) {
    const Outgoing entry = entry_of(id);
    if (!remote->put(std::span(&entry, 1))) std::abort();
  }
  Served served;
  for (const char* space : {"ac", "cas"})
    for (const auto& file : fs::directory_iterator(folder / space))
      served.files[std::string(space) + "/" + file.path().filename().string()] = read_file(file.path()).value();
  return served;
}

/// Another record of the same key whose sum holds: with blobs changed under a name of their own, or sizes that lie.
void change_entry(Served& served, Random& random) {
  const std::string path = to_path({Space::ac, key_of(random() % kEntries)});
  auto parsed = schema::parse_entry_record(served.files[path]);
  if (!parsed) return;  // changed before
  schema::EntryRecord& record = *parsed;
  for (auto& part : record.parts) {
    if (chance(random, 3)) {
      Bytes blob = served.files[to_path({Space::cas, part.blob})];
      change_bytes(blob, random);
      part.blob = sha256(blob);
      part.blob_bytes = blob.size();
      served.files[to_path({Space::cas, part.blob})] = std::move(blob);
    }
    if (chance(random, 4)) part.bytes = chance(random, 2) ? hostile_word(random) : random() % (size_t{300} << 20);
    if (chance(random, 6)) part.blob_bytes = hostile_word(random);
    if (chance(random, 6)) part.codec = part.codec == schema::Codec::zstd ? schema::Codec::none : schema::Codec::zstd;
    if (part.codec == schema::Codec::none && chance(random, 2)) part.digest = part.blob, part.bytes = part.blob_bytes;
  }
  if (chance(random, 4)) record.signatures.push_back("nobody:" + std::string(random() % 200, 'A'));
  if (const auto text = schema::write_entry_record(record)) served.files[path] = to_bytes(as_bytes(*text));
}

/// Bytes of a record, and its sum put right.
void change_text(Served& served, Random& random) {
  Bytes& record = served.files[to_path({Space::ac, key_of(random() % kEntries)})];
  change_bytes(record, random);
  std::string text(as_text(record));
  const size_t sum = text.rfind("sum ");
  if (sum == text.npos || chance(random, 3)) return;
  text.resize(sum);
  text += "sum " + to_hex(sha256(as_bytes(text))) + "\n";
  record = to_bytes(as_bytes(text));
}

Served hostile(const Served& from, Random& random) {
  Served served = from;
  for (uint64_t changes = random() % 4; changes != 0; --changes)
    chance(random, 2) ? change_entry(served, random) : change_text(served, random);
  if (chance(random, 6)) {
    auto one = served.files.begin(), other = served.files.begin();
    std::advance(one, static_cast<long>(random() % served.files.size()));
    std::advance(other, static_cast<long>(random() % served.files.size()));
    std::swap(one->second, other->second);
  }
  return served;
}

std::string http_answer(const Served& served, std::string_view request, Random& random) {
  const size_t at = std::min(request.find(' '), request.size());
  const std::string_view path = request.substr(std::min(at + 2, request.size()));
  const auto found = served.files.find(std::string(path.substr(0, path.find(' '))));
  static constexpr const char* kOdd[] = {"HTTP/1.1 302 Found\r\nLocation: /ac/x\r\n",
                                         "HTTP/1.1 100 Continue\r\n\r\n",
                                         "HTTP/1.1 429 Slow \x1b[31m\r\nRetry-After: 99999999999\r\n",
                                         "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-9/3\r\n",
                                         "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n",
                                         "HTTP/1.0 200 \r\n",
                                         "HTTP/2 200\r\n",
                                         "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n",
                                         "HTTP/1.1 200 OK\r\n x: goes on\r\n"};
  std::string text = chance(random, 8)             ? kOdd[random() % std::size(kOdd)]
                     : found == served.files.end() ? "HTTP/1.1 404 Not Found\r\n"
                                                   : "HTTP/1.1 200 OK\r\n";
  const std::string body(found == served.files.end() ? std::string_view() : as_text(found->second));
  if (chance(random, 6))
    return text + fmt::format("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{}\r\n0\r\n{}\r\n", body.size(), body,
                              chance(random, 3) ? "X: trailer\r\n" : "");
  const uint64_t length = chance(random, 12) ? hostile_word(random) : body.size();
  return text + fmt::format("Content-Length: {}\r\n\r\n{}", length, body);
}

/// The words of a command; empty when the request is no whole one.
std::vector<std::string> redis_words(std::string_view& request) {
  const auto line = [&] {
    const size_t end = request.find("\r\n");
    const std::string found(request.substr(0, end));
    request.remove_prefix(end == request.npos ? request.size() : end + 2);
    return found;
  };
  const std::string head = line();
  if (!head.starts_with('*')) return {};
  std::vector<std::string> words;
  for (long left = std::atol(head.c_str() + 1); left > 0 && !request.empty(); --left) {
    const auto size = static_cast<size_t>(std::atol(line().c_str() + 1));
    words.emplace_back(request.substr(0, size));
    request.remove_prefix(std::min(size + 2, request.size()));
  }
  return words;
}

std::string redis_answer(const Served& served, std::string_view request, Random& random) {
  std::string text;
  while (!request.empty()) {
    const auto words = redis_words(request);
    if (words.empty()) break;
    static constexpr const char* kOdd[] = {"-ERR \x1b[2J\r\n",
                                           "+OK\r\n",
                                           ":9223372036854775807\r\n",
                                           "*-1\r\n",
                                           "$536870912\r\n",
                                           "*2\r\n*2\r\n*2\r\n",
                                           "%1\r\n+a\r\n+b\r\n",
                                           "_\r\n",
                                           "#t\r\n"};
    if (chance(random, 10)) {
      text += kOdd[random() % std::size(kOdd)];
      continue;
    }
    text += fmt::format("*{}\r\n", words.size() - 1);
    for (size_t i = 1; i < words.size(); ++i) {
      std::string path = words[i].substr(std::min(words[i].find(':', 6) + 1, words[i].size()));
      std::replace(path.begin(), path.end(), ':', '/');
      const auto found = served.files.find(path);
      if (found == served.files.end())
        text += "$-1\r\n";
      else
        text += fmt::format("${}\r\n{}\r\n", found->second.size(), as_text(found->second));
    }
  }
  return text;
}

/// Answers each request of a connection as its kind does, then changed; what it sends follows from the number alone.
class Server {
 public:
  using Answer = std::string (*)(const Served&, std::string_view, Random&);
  Server(const Served& served, Answer answer, uint64_t number)
      : served_(served), answer_(answer), number_(number), server_([this](int fd, const std::atomic<bool>& ending) {
          serve(fd, ending);
          ::shutdown(fd, SHUT_RDWR);
          ::close(fd);
        }) {}
  std::string address() const { return fmt::format("127.0.0.1:{}", server_.port()); }

 private:
  void serve(int fd, const std::atomic<bool>& ending) {
    Random random(number_ ^ 0x5eed);
    for (;;) {
      std::string request(65536, '\0');
      pollfd waiting{fd, POLLIN, 0};
      while (::poll(&waiting, 1, 20) == 0)
        if (ending) return;
      const ssize_t count = ::recv(fd, request.data(), request.size(), 0);
      if (count <= 0) return;
      request.resize(static_cast<size_t>(count));
      Bytes bytes = to_bytes(as_bytes(answer_(served_, request, random)));
      if (chance(random, 3)) change_bytes(bytes, random);
      for (size_t at = 0; at < bytes.size();) {
        const size_t piece = chance(random, 4) ? 1 + random() % 100 : bytes.size();
        const ssize_t sent = ::send(fd, bytes.data() + at, std::min(piece, bytes.size() - at), MSG_NOSIGNAL);
        if (sent <= 0) return;
        at += static_cast<size_t>(sent);
      }
      if (chance(random, 3)) return;
    }
  }

  const Served& served_;
  Answer answer_;
  uint64_t number_;
  LoopbackServer server_;
};

struct Counts {
  uint64_t tried = 0, found = 0, damaged = 0, failed = 0;
};

std::string judge(const std::vector<std::optional<Arrived>>& found, const std::vector<Digest>& keys, Counts& counts) {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!found[i]) continue;
    ++counts.found;
    const schema::EntryRecord& record = found[i]->record;
    if (record.key != keys[i]) return "an entry of another key";
    if (record.parts.size() != found[i]->parts.size()) return "another number of parts than the record has";
    for (size_t p = 0; p < record.parts.size(); ++p)
      if (found[i]->parts[p].name != record.parts[p].name || found[i]->parts[p].bytes.size() != record.parts[p].bytes ||
          sha256(found[i]->parts[p].bytes) != record.parts[p].digest)
        return "a part that is not what the record says";
  }
  return {};
}

/// Empty, or what is wrong.
std::string try_one(const Served& from, uint64_t number, Counts& counts) {
  Random random(number);
  const Served served = hostile(from, random);
  const TemporaryFolder folder;
  std::string url = "file://" + folder.path().string();
  std::optional<Server> server;
  const uint64_t kind = random() % 5;
  if (kind == 0) {
    for (const auto& [path, bytes] : served.files) {
      fs::create_directories((folder / path).parent_path());
      if (!write_file(folder / path, bytes)) return "cannot write";
    }
  } else {
    server.emplace(served, kind < 3 ? http_answer : redis_answer, number);
    url = (kind < 3 ? "http://" : "redis://") + server->address();
  }
  std::string problem;
  const auto warn = [&](std::string_view text) {
    if (printable(text) != text || text.find('\n') != text.npos) problem = "a warning that steers a terminal";
    if (text.size() > 1000) problem = "a warning without an end";
  };
  auto address = parse_address(url + "?stall=150ms&timeout=1s&budget=300ms").value();
  const auto remotes = Remotes::open({address}, warn).value();
  std::vector<Digest> keys;
  for (uint64_t id = 0; id <= kEntries; ++id) keys.push_back(key_of(id));
  const auto began = Clock::now();
  ++counts.tried;
  const auto found = remotes->find(keys, true);
  if (std::string wrong = judge(found, keys, counts); !wrong.empty()) return wrong;
  remotes->find(std::span(keys).first(1), true);
  if (kind >= 3) remotes->lease(keys[0], milliseconds(50), {});
  if (Clock::now() - began > kLongest) return "it took long";
  const Statistics counted = remotes->statistics()[0].statistics;
  counts.damaged += counted.damaged;
  counts.failed += counted.errors;
  return problem;
}

}  // namespace

int main(int count, char** words) {
  uint64_t seconds = 10, first = 1;
  std::optional<uint64_t> only;
  CLI::App app("Hostile remotes");
  app.add_option("--seconds", seconds, "How long");
  app.add_option("--first", first, "Number of the first server");
  app.add_option("--only", only, "The server of this number alone");
  CLI11_PARSE(app, count, words);
  const Served from = honest();
  Counts counts;
  int findings = 0;
  const auto end = Clock::now() + std::chrono::seconds(seconds);
  for (uint64_t number = only.value_or(first); only ? number == *only : Clock::now() < end; ++number) {
    const std::string problem = try_one(from, number, counts);
    if (problem.empty()) continue;
    ++findings;
    fmt::print("server {}: {}\n", number, problem);
  }
  struct rusage use;
  ::getrusage(RUSAGE_SELF, &use);
  fmt::print("{} servers: {} entries found, {} damaged, {} calls failed, at most {} MB; {} findings\n", counts.tried,
             counts.found, counts.damaged, counts.failed, use.ru_maxrss >> 10, findings);
  return findings == 0 && counts.found != 0 && counts.damaged != 0 ? 0 : 1;
}
