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

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>

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
  options.policy.level = trust::Level::any;
  return options;
}

std::string with_option(const std::string& url, const std::string& option) {
  return url + (url.find('?') == std::string::npos ? "?" : "&") + option;
}

struct Measured {
  double fetch = 1e9, whole = 1e9;  // milliseconds, the best of the rounds: without and with keeping them here
  Statistics counts;
};

Measured measure(const std::string& url, const std::vector<Digest>& keys, int rounds = kRounds) {
  Measured best;
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
  return best;
}

void print_row(const std::string& name, const Measured& measured, double local, uint64_t raw) {
  fmt::print("{:<22} {:>8.1f} {:>7.1f}x {:>9.1f} {:>7} {:>9.2f} {:>7.2f}\n", name, measured.fetch,
             measured.fetch / local, measured.whole, measured.counts.round_trips,
             static_cast<double>(measured.counts.bytes_read) / 1e6,
             static_cast<double>(raw) / static_cast<double>(measured.counts.bytes_read));
  std::fflush(stdout);
}

/// Reading and checking all entries by a store that was just opened.
double local_read(const fs::path& folder, const std::vector<Digest>& keys) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round)
    best = std::min(best, 1e3 * timed([&] {
                            const auto store = must(cache::Store::open(folder));
                            const auto found = must(store->find_all(keys));
                            for (const auto& entry : found)
                              for (const auto& part : entry->parts()) keep(part.bytes.data());
                          }));
  return best;
}

std::string output_of(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  for (char buffer[4096]; pipe && std::fgets(buffer, sizeof(buffer), pipe);) text += buffer;
  if (!pipe || ::pclose(pipe) != 0) return {};
  return text;
}

void rivals(const fs::path& folder, const std::vector<Digest>& keys,
            const std::vector<std::optional<cache::Entry>>& entries) {
  fs::create_directories(folder / "groups");
  Bytes archive;
  for (size_t i = 0; i < keys.size(); ++i) {
    const fs::path group = folder / "groups" / to_hex(keys[i]);
    fs::create_directories(group);
    for (const auto& part : entries[i]->parts()) {
      must(write_file(group / part.name, part.bytes));
      archive.insert(archive.end(), part.bytes.begin(), part.bytes.end());
    }
  }
  const test::Redis redis;
  const std::string script = SMELT_SOURCE_DIR "/bench/remote/triton_redis.py";
  const std::string triton =
      output_of(fmt::format("python3 {} {} {}", script, redis.port(), (folder / "groups").string()));
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
  // The kernels one by one; not the library that holds them all.
  const auto store = must(cache::Store::open(folder / "store"));
  std::vector<Digest> keys;
  std::vector<std::optional<cache::Entry>> entries;
  uint64_t raw = 0;
  for (const auto& info : must(store->list())) {
    auto entry = must(store->find(info.key));
    if (!entry || !entry->part("kernel.smelt")) continue;
    keys.push_back(info.key);
    for (const auto& part : entry->parts()) raw += part.bytes.size();
    entries.push_back(std::move(entry));
  }
  const double local = local_read(folder / "store", keys);
  fmt::print("{} kernels, {:.2f} MB, {:.1f} kB each. Milliseconds, best of {}.\n\n", keys.size(),
             static_cast<double>(raw) / 1e6, static_cast<double>(raw) / 1e3 / static_cast<double>(keys.size()),
             kRounds);
  fmt::print("{:<22} {:>8.1f}\n{:<22} {:>8.1f}\n", "compiling them", compile, "local store, opened", local);
  rivals(folder.path(), keys, entries);
  fmt::print("\n{:<22} {:>8} {:>8} {:>9} {:>7} {:>9} {:>7}\n", "remote", "fetched", "/ local", "and kept", "trips",
             "MB wire", "raw/wire");
  for (const test::ServerKind& kind : test::server_kinds()) {
    const auto server = kind.start();
    const std::string slow = with_option(server->url(), "timeout=60s");
    must(must(TieredStore::open(store, options_for(slow)))->push(keys));
    print_row(kind.name, measure(slow, keys), local, raw);
    if (kind.name != "redis" && kind.name != "nginx, TLS") continue;
    const DelayProxy proxy(port_of(slow), kDelay);
    const Measured late = measure(with_option(behind(slow, proxy.port()), "stall=5s"), keys, 2);
    print_row(fmt::format("  behind {} ms", kDelay.count()), late, local, raw);
    fmt::print("{:<22} {:>8.1f} round-trip times\n", "", late.fetch / static_cast<double>(kDelay.count()));
  }
  return 0;
}
