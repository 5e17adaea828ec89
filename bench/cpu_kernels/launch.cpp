// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch of a tiny kernel costs, from dispatch to return: c = a + b in groups of 32 threads, for 1, 32 and 1,024
// groups, and a hundred dispatches of 32 and of 256 groups that do not depend on each other, one after the other and
// concurrent, on 1 and 2 threads. Rivals: a call of the same loop, and OpenMP's parallel for over the groups, or over
// the hundred.
//
//   bench_cpu_kernels_launch [rounds]
//
// The rivals take turns; a round is some calls in a row, and the fastest round counts. One thread: processor time, two:
// time by the clock.
#include "bench.hpp"
#include "built.hpp"
#include "launch_rivals.hpp"

#include <chrono>
#include <thread>

namespace smelt::bench {
namespace {

constexpr size_t kGroup = 32;
constexpr size_t kBatch = 100;
constexpr size_t kCalls = 20;  // in a round

struct Arrays {
  explicit Arrays(size_t count) : a(count, 1), b(count, 2), c(count) {}
  std::vector<float> a, b, c;
};

/// A dispatch over `count` elements from the `first` on.
struct Dispatch {
  Dispatch(const loader::LibraryRef& library, Arrays& arrays, size_t first, size_t elements)
      : encoder(must(loader::Encoder::create(library->device()))), count(elements) {
    must(encoder->set_pipeline(must(must(library->function("vadd"))->pipeline())));
    bind(arrays, first);
  }
  void bind(Arrays& arrays, size_t first) {
    uint32_t slot = 0;
    for (std::vector<float>* values : {&arrays.a, &arrays.b, &arrays.c})
      must(encoder->set_memory(slot++, std::as_writable_bytes(std::span(*values).subspan(first, count))));
  }
  void run() { must(encoder->dispatch_threads({count, 1, 1}, {kGroup, 1, 1})); }

  std::unique_ptr<loader::Encoder> encoder;
  size_t count;
};

struct Rival {
  std::function<void()> call;
  double least = 1e12;
};

void row(std::string_view name, unsigned threads, size_t rounds, std::vector<Rival> rivals) {
  const auto clock = [&] { return threads == 1 ? cpu_ms() * 1e3 : now() * 1e6; };
  for (size_t round = 0; round < rounds; ++round)
    for (Rival& rival : rivals) {
      // The other rival's threads look for work some milliseconds longer (libgomp), on the processor that ours want.
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      for (size_t i = 0; i < kCalls; ++i) rival.call();  // its own threads awake
      const double start = clock();
      for (size_t i = 0; i < kCalls; ++i) rival.call();
      rival.least = std::min(rival.least, (clock() - start) / kCalls);
    }
  fmt::print("{:34} {:8}", name, threads);
  for (const Rival& rival : rivals) fmt::print(" {:10.2f}", rival.least);
  fmt::print(" {:8.2f} {:8.2f}\n", rivals[0].least / rivals[1].least, rivals[0].least / rivals[2].least);
  std::fflush(stdout);
}

void check(const Arrays& arrays) {
  for (const float value : arrays.c)
    if (value != 3) throw std::runtime_error("a result is wrong");
}

void rows_of(const loader::LibraryRef& library, unsigned threads, size_t rounds) {
  const int omp = static_cast<int>(threads);
  for (const size_t groups : {size_t{1}, size_t{32}, size_t{1024}}) {
    const size_t count = groups * kGroup;
    Arrays mine(count);
    Arrays theirs(count);
    Dispatch dispatch(library, mine, 0, count);
    row(fmt::format("{} group(s) of {}", groups, kGroup), threads, rounds,
        {{[&] { dispatch.run(); }},
         {[&] { rivals::add(theirs.a.data(), theirs.b.data(), theirs.c.data(), count); }},
         {[&] { rivals::add_parallel(theirs.a.data(), theirs.b.data(), theirs.c.data(), count, kGroup, omp); }}});
    check(mine);
  }
  for (const size_t groups : {size_t{32}, size_t{256}}) {
    const size_t each = groups * kGroup;
    Arrays mine(kBatch * each);
    Arrays theirs(kBatch * each);
    const Rival loop{[&] {
      for (size_t i = 0; i < kBatch; ++i)
        rivals::add(&theirs.a[i * each], &theirs.b[i * each], &theirs.c[i * each], each);
    }};
    const Rival parallel{
        [&] { rivals::add_batch_parallel(theirs.a.data(), theirs.b.data(), theirs.c.data(), each, kBatch, omp); }};
    std::vector<Dispatch> batch;
    for (size_t i = 0; i < kBatch; ++i) batch.emplace_back(library, mine, i * each, each);
    const auto in_turn = [&] {
      for (Dispatch& dispatch : batch) dispatch.run();
    };
    row(fmt::format("{} dispatches of {} groups", kBatch, groups), threads, rounds, {{in_turn}, loop, parallel});
    check(mine);
    std::fill(mine.c.begin(), mine.c.end(), 0);
    // Bindings are set for each, as a program does that has one encoder.
    Dispatch one(library, mine, 0, each);
    const auto concurrent = [&] {
      one.encoder->begin_concurrent();
      for (size_t i = 0; i < kBatch; ++i) {
        one.bind(mine, i * each);
        one.run();
      }
      must(one.encoder->end_concurrent());
    };
    row("  concurrent, in one encoder", threads, rounds, {{concurrent}, loop, parallel});
    check(mine);
  }
}

int run(size_t rounds) {
  fmt::print(
      "\nlaunches of c = a + b, fastest, us a call (1 thread: processor time)\n{:34} {:>8} {:>10} {:>10} {:>10} {:>8} "
      "{:>8}\n",
      "", "threads", "smelt", "loop", "OpenMP", "/loop", "/OpenMP");
  for (const unsigned threads : {1u, 2u}) rows_of(build(cpu_device(threads)), threads, rounds);
  return 0;
}

}  // namespace
}  // namespace smelt::bench

int main(int count, char** arguments) {
  try {
    return smelt::bench::run(count > 1 ? std::stoul(arguments[1]) : 60);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_cpu_kernels_launch: {}\n", error.what());
    return 1;
  }
}
