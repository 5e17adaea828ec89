// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long a hit and a miss take, as distributions: by size of the entry and by number of processes at once. Prints one
// CSV line per sample group and quantile (what,size,processes,quantile,microseconds); plot_latency.py draws them.
#include "smelt/cache/store.hpp"

#include "../bench.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <random>

using namespace smelt;
using namespace smelt::bench;

namespace {

constexpr size_t kSamples = 4000;
constexpr uint64_t kEntries = 200;

Digest key_of(uint64_t id) {
  Hasher hasher;
  hasher.field(id);
  return hasher.finish();
}

std::shared_ptr<cache::Store> open(const std::filesystem::path& folder) {
  auto store = cache::Store::open(folder);
  if (!store) {
    fmt::print(stderr, "{}\n", store.error().message);
    std::exit(1);
  }
  return *store;
}

}  // namespace

int main() {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("smelt-bench-latency-{}", ::getpid());
  fmt::print("what,size,processes,quantile,microseconds\n");
  for (const size_t size : {size_t{4} << 10, size_t{32} << 10, size_t{256} << 10, size_t{2} << 20}) {
    const auto where = folder / std::to_string(size);
    {
      auto store = open(where);
      Bytes bytes(size);
      std::mt19937_64 random(1);
      for (uint64_t id = 0; id < kEntries; ++id) {
        for (size_t at = 0; at + 8 <= size; at += 8) store_le<uint64_t>(bytes.data() + at, random());
        if (!store->put(key_of(id), {{"kernel.metallib", bytes}}, signing::Provenance::made_here())) return 1;
      }
    }
    for (const unsigned processes : {1u, 2u, 4u, 8u}) {
      const size_t bytes = sizeof(double) * kSamples * 2 * processes;
      auto* samples =
          static_cast<double*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
      std::vector<pid_t> children;
      for (unsigned p = 0; p < processes; ++p) {
        const pid_t child = ::fork();
        if (child != 0) {
          children.push_back(child);
          continue;
        }
        auto store = open(where);
        Bytes into(size);
        double* hits = samples + p * kSamples * 2;
        double* misses = hits + kSamples;
        std::mt19937_64 random(p);
        for (size_t i = 0; i < kSamples; ++i) {
          const Digest key = key_of(random() % kEntries);
          // The first touch of a blob (faults, checksum) is part of the distribution: that is its tail.
          hits[i] = timed([&] {
            const auto found = store->find(key);
            const ByteView value = (**found).part("kernel.metallib").value();
            std::memcpy(into.data(), value.data(), value.size());
            keep(into[7]);
          });
          misses[i] = timed([&] { keep(store->find(key_of(kEntries + random() % 1000000))->has_value()); });
        }
        ::_exit(0);
      }
      for (const pid_t child : children) ::waitpid(child, nullptr, 0);
      std::vector<double> hits, misses;
      for (unsigned p = 0; p < processes; ++p) {
        hits.insert(hits.end(), samples + p * kSamples * 2, samples + p * kSamples * 2 + kSamples);
        misses.insert(misses.end(), samples + p * kSamples * 2 + kSamples, samples + (p + 1) * kSamples * 2);
      }
      ::munmap(samples, bytes);
      for (const double q : {.01, .05, .1, .25, .5, .75, .9, .95, .99, .995, .999}) {
        fmt::print("hit,{},{},{},{:.3f}\n", size, processes, q, percentile(hits, q) * 1e6);
        fmt::print("miss,{},{},{},{:.3f}\n", size, processes, q, percentile(misses, q) * 1e6);
      }
    }
  }
  std::filesystem::remove_all(folder);
  return 0;
}
