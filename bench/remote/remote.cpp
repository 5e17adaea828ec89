// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 500 kernels: from a warm local store, from each kind of remote into an empty store, by compiling them; and what
// others do with the same bytes: Triton's Redis backend, one archive by curl. Everything on the loopback address, then
// Redis and nginx behind 20 ms.
//
//   bench_remote [COUNT]
#include "smelt/base/files.hpp"
#include "smelt/remote/tiered_store.hpp"
#include "smelt/service/session.hpp"

#include "bench.hpp"
#include "delay_proxy.hpp"
#include "files.hpp"
#include "servers.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <thread>

using namespace smelt;
using namespace smelt::bench;
using namespace smelt::remote;
namespace fs = std::filesystem;

namespace {

constexpr int kRounds = 5;
constexpr std::chrono::milliseconds kDelay{20};

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "bench_remote: {}\n", why);
  std::exit(1);
}

template <class T>
T must(Result<T> result) {
  if (!result) stop(result.error().message);
  return std::move(*result);
}
void must(const Result<void>& result) {
  if (!result) stop(result.error().message);
}

/// Kernels of one Metal source, all different, none trivial.
std::string source(size_t count) {
  std::string text = "#include <metal_stdlib>\nusing namespace metal;\n";
  for (size_t i = 0; i < count; ++i)
    text += fmt::format(
        "kernel void k{0}(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], constant uint& n "
        "[[buffer(2)]],\n  uint i [[thread_position_in_grid]], uint t [[thread_position_in_threadgroup]]) {{\n"
        "  threadgroup float part[{1}];\n  float sum = 0;\n"
        "  for (uint k = i; k < n; k += {1}) sum = fma(x[k], {0}.5f, sum) + exp(-x[k] * {2}.0f);\n"
        "  part[t % {1}] = sum;\n  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
        "  y[i] = part[(t + {2}) % {1}] + part[0];\n}}\n",
        i, 32 << (i % 4), i % 7 + 1);
  return text;
}

TierOptions options_for(const std::string& url) {
  TierOptions options;
  options.remotes = must(parse_addresses(url));
  options.policy.level = signing::Level::any;
  return options;
}

std::string with_option(const std::string& url, const std::string& option) {
  return url + (url.find('?') == std::string::npos ? "?" : "&") + option;
}

/// Nanoseconds of processor time that the servers have used: all processes that descend from this one.
uint64_t servers_time() {
  std::map<pid_t, pid_t> parents;
  std::map<pid_t, uint64_t> times;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const pid_t process = std::atoi(entry.path().filename().c_str());
    if (process <= 0) continue;
    std::ifstream stat(entry.path() / "stat");
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    const size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) continue;
    parents[process] = std::atoi(text.c_str() + name_end + 4);  // ") S PPID"
    std::error_code gone;
    for (const auto& thread : fs::directory_iterator(entry.path() / "task", gone)) {
      std::ifstream schedule(thread.path() / "schedstat");
      uint64_t running = 0;
      schedule >> running;
      times[process] += running;
    }
  }
  uint64_t sum = 0;
  for (const auto& [process, time] : times)
    for (pid_t at = parents[process]; at > 1; at = parents[at])
      if (at == ::getpid()) {
        sum += time;
        break;
      }
  return sum;
}

struct Measured {
  double fetch = 1e9, whole = 1e9;  // milliseconds, the best of the rounds: without and with keeping them here
  double server = 0;                // microseconds of the server's processor for one entry
  Statistics counts;
};

Measured measure(const std::string& url, const std::vector<Digest>& keys, int rounds = kRounds) {
  Measured best;
  const uint64_t began = servers_time();
  for (int round = 0; round < rounds; ++round) {
    const auto remotes = must(Remotes::open(must(parse_addresses(url))));
    const double fetch = 1e3 * timed([&] {
                           for (const auto& entry : remotes->find(keys))
                             if (!entry) stop(url + ": an entry is missing");
                         });
    best.fetch = std::min(best.fetch, fetch);
    best.counts = remotes->statistics()[0].statistics;
    const test::TemporaryFolder folder;
    const auto store = must(TieredStore::open(must(cache::Store::open(folder / "s")), options_for(url)));
    const double whole = 1e3 * timed([&] {
                           const auto found = must(store->find_all(keys));
                           for (const auto& entry : found)
                             if (!entry) stop(url + ": an entry is missing");
                         });
    best.whole = std::min(best.whole, whole);
  }
  best.server = static_cast<double>(servers_time() - began) / 1e3 / static_cast<double>(2 * rounds) /
                static_cast<double>(keys.size());
  return best;
}

/// Milliseconds until `machines` that ask at the same moment, each with connections of its own, have all entries. They
/// share this machine's processors.
double at_once(const std::string& url, const std::vector<Digest>& keys, unsigned machines) {
  return 1e3 * timed([&] {
           std::vector<std::thread> threads;
           for (unsigned i = 0; i < machines; ++i)
             threads.emplace_back([&] {
               const auto remotes = must(Remotes::open(must(parse_addresses(url))));
               for (const auto& entry : remotes->find(keys))
                 if (!entry) stop(url + ": an entry is missing");
             });
           for (std::thread& thread : threads) thread.join();
         });
}

void print_row(const std::string& name, const Measured& measured, double local, uint64_t raw) {
  fmt::print("{:<22} {:>8.1f} {:>7.1f}x {:>9.1f} {:>7} {:>9.2f} {:>7.2f} {:>9.1f}\n", name, measured.fetch,
             measured.fetch / local, measured.whole, measured.counts.round_trips,
             static_cast<double>(measured.counts.bytes_read) / 1e6,
             static_cast<double>(raw) / static_cast<double>(measured.counts.bytes_read), measured.server);
  std::fflush(stdout);
}

/// What a fleet costs, computed from what one machine measured. Every machine starts ten times a day with an empty
/// store and asks for all entries; all start at once. The server has one processor for us and a link of 10 Gbit/s. S3:
/// prices of us-east-1 as Amazon published them in 2025, 0.40 $ a million GET, 5 $ a million PUT, 0.023 $ a GB and
/// month, no charge for bytes within the region; two requests an entry; every entry is replaced once a day and kept for
/// 30 days.
void print_fleet(const std::string& name, const Measured& measured, size_t entries) {
  constexpr double kStarts = 10, kDays = 30, kLink = 1.25e9;
  const double bytes = static_cast<double>(measured.counts.bytes_read), count = static_cast<double>(entries);
  fmt::print("\n{}: {} entries of {:.1f} kB, {:.1f} us of the server's processor each\n", name, entries,
             bytes / 1e3 / count, measured.server);
  fmt::print("{:>9} {:>14} {:>12} {:>14} {:>12} {:>14}\n", "machines", "all warm in s", "limited by", "requests/day",
             "GB/day", "S3, $ a month");
  for (const double machines : {1.0, 10.0, 100.0, 1000.0}) {
    const double own = measured.fetch / 1e3, processor = machines * count * measured.server / 1e6,
                 link = machines * bytes / kLink;
    const double warm = std::max({own, processor, link});
    const double requests = 2 * machines * count * kStarts;
    const double s3 = requests * kDays * 0.4e-6 + 2 * count * kDays * 5e-6 + bytes / 1e9 * kDays * 0.023;
    fmt::print("{:>9.0f} {:>14.2f} {:>12} {:>14.0f} {:>12.1f} {:>14.2f}\n", machines, warm,
               warm == own         ? "itself"
               : warm == processor ? "processor"
                                   : "link",
               requests, machines * bytes * kStarts / 1e9, s3);
  }
}

/// Takes a folder's files out of the page cache, as far as the kernel does it when asked.
void make_cold(const fs::path& folder) {
  for (const fs::directory_entry& file : fs::recursive_directory_iterator(folder)) {
    if (!file.is_regular_file()) continue;
    const int fd = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    ::fdatasync(fd);
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
  }
}

/// Reading and checking all entries by a store that was just opened; `cold`: from the disk.
double local_read(const fs::path& folder, const std::vector<Digest>& keys, bool cold) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    if (cold) make_cold(folder);
    best = std::min(best, 1e3 * timed([&] {
                            const auto store = must(cache::Store::open(folder));
                            const auto found = must(store->find_all(keys));
                            for (const auto& entry : found)
                              for (const auto& part : entry->parts()) keep(part.bytes.data());
                          }));
  }
  return best;
}

std::string output_of(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  for (char buffer[4096]; pipe && std::fgets(buffer, sizeof(buffer), pipe);) text += buffer;
  if (!pipe || ::pclose(pipe) != 0) return {};
  return text;
}

using Parts = std::vector<std::pair<std::string, Bytes>>;  // of an entry: name, bytes

void rivals(const fs::path& folder, const std::vector<Digest>& keys, const std::vector<Parts>& entries) {
  fs::create_directories(folder / "groups");
  Bytes archive;
  for (size_t i = 0; i < keys.size(); ++i) {
    const fs::path group = folder / "groups" / to_hex(keys[i]);
    fs::create_directories(group);
    for (const auto& [name, bytes] : entries[i]) {
      must(write_file(group / name, bytes));
      archive.insert(archive.end(), bytes.begin(), bytes.end());
    }
  }
  const test::Redis redis;
  const std::string script = SMELT_SOURCE_DIR "/bench/remote/triton_redis.py";
  const std::string triton =
      output_of(fmt::format("/usr/bin/python3 {} {} {}", script, redis.port(), (folder / "groups").string()));
  if (triton.empty())
    fmt::print("Triton's Redis backend: not measured (python3-redis?)\n");
  else
    fmt::print("{:<22} {:>8.1f}   (MGET a group, files written, as RedisRemoteCacheBackend does)\n",
               "Triton's Redis backend", std::atof(triton.c_str()));
  const auto nginx = test::start_nginx_plain();
  fs::create_directories(nginx->folder());
  must(write_file(nginx->folder() / "archive", archive));
  const std::string url = nginx->url().substr(0, nginx->url().find('?'));
  const std::string curl =
      output_of(fmt::format("curl -s -H 'Authorization: Bearer open sesame' -o {}/out -w '%{{time_total}}' {}/archive",
                            folder.string(), url));
  fmt::print("{:<22} {:>8.1f}   (one archive of {:.2f} MB, uncompressed, over nginx)\n", "curl",
             1e3 * std::atof(curl.c_str()), static_cast<double>(archive.size()) / 1e6);
}

/// The URL with another port: the proxy's.
std::string behind(const std::string& url, uint16_t port) {
  const size_t begin = url.rfind("127.0.0.1:") + 10;
  size_t end = begin;
  while (end < url.size() && std::isdigit(static_cast<unsigned char>(url[end])) != 0) ++end;
  return url.substr(0, begin) + std::to_string(port) + url.substr(end);
}

uint16_t port_of(const std::string& url) {
  return static_cast<uint16_t>(std::atoi(url.substr(url.rfind("127.0.0.1:") + 10).c_str()));
}

}  // namespace

int main(int argc, char** argv) {
  const size_t count = argc > 1 ? static_cast<size_t>(std::atol(argv[1])) : 500;
  const test::TemporaryFolder folder;
  service::SessionOptions with;
  with.store = folder / "store";
  with.remotes.emplace();
  const std::string text = source(count);
  service::Request request;
  request.sources.push_back({"kernels.metal", as_bytes(text)});
  double compile = 0;
  {
    const auto session = service::Session::open(with);
    compile = 1e3 * timed([&] { must(session->make(request)); });
  }
  // The kernels one by one; not the library that holds them all. Nothing of the store stays mapped, else it would stay
  // in the page cache.
  std::vector<Digest> keys;
  std::vector<Parts> entries;
  uint64_t raw = 0;
  {
    const auto store = must(cache::Store::open(folder / "store"));
    for (const auto& info : must(store->list())) {
      const auto entry = must(store->find(info.key));
      if (!entry || !entry->part("kernel.smelt")) continue;
      keys.push_back(info.key);
      Parts& parts = entries.emplace_back();
      for (const auto& part : entry->parts()) {
        parts.emplace_back(part.name, to_bytes(part.bytes));
        raw += part.bytes.size();
      }
    }
  }
  const double warm = local_read(folder / "store", keys, false);
  const double local = local_read(folder / "store", keys, true);
  const auto store = must(cache::Store::open(folder / "store"));
  fmt::print("{} kernels, {:.2f} MB, {:.1f} kB each. Milliseconds, best of {}.\n\n", keys.size(),
             static_cast<double>(raw) / 1e6, static_cast<double>(raw) / 1e3 / static_cast<double>(keys.size()),
             kRounds);
  fmt::print("{:<22} {:>8.1f}\n{:<22} {:>8.1f}\n{:<22} {:>8.1f}\n", "compiling them", compile, "local store, warm",
             warm, "local store, cold", local);
  rivals(folder.path(), keys, entries);
  fmt::print("\n{:<22} {:>8} {:>8} {:>9} {:>7} {:>9} {:>7} {:>9}\n", "remote", "fetched", "/ cold", "and kept", "trips",
             "MB wire", "raw/wire", "server us");
  std::vector<std::pair<std::string, Measured>> fleets;
  for (const test::ServerKind& kind : test::server_kinds()) {
    const auto server = kind.start();
    const std::string slow = with_option(server->url(), "timeout=60s");
    must(must(TieredStore::open(store, options_for(slow)))->push(keys));
    const Measured measured = measure(slow, keys);
    print_row(kind.name, measured, local, raw);
    if (kind.name == "redis" || kind.name == "nginx, TLS") {
      fleets.emplace_back(kind.name, measured);
      fmt::print("{:<22} {:>8.1f}   (10 such machines at once, on these processors)\n", "", at_once(slow, keys, 10));
    }
    if (kind.name != "redis" && kind.name != "nginx, TLS") continue;
    const DelayProxy proxy(port_of(slow), kDelay);
    const Measured late = measure(with_option(behind(slow, proxy.port()), "stall=5s"), keys, 2);
    print_row(fmt::format("  behind {} ms", kDelay.count()), late, local, raw);
    fmt::print("{:<22} {:>8.1f} round-trip times\n", "", late.fetch / static_cast<double>(kDelay.count()));
  }
  for (const auto& [name, measured] : fleets) print_fleet(name, measured, keys.size());
  return 0;
}
