// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/tasks.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <vector>

using namespace smelt;

TEST_CASE("each task runs once, on no more threads than asked for") {
  for (const unsigned threads : {0u, 1u, 3u, 16u})
    for (const size_t count : {size_t{0}, size_t{1}, size_t{7}, size_t{200}}) {
      std::vector<std::atomic<int>> runs(count);
      std::mutex mutex;
      std::set<std::thread::id> seen;
      CHECK(run_tasks(count, threads, [&](size_t i) -> Result<void> {
        ++runs[i];
        const std::lock_guard lock(mutex);
        seen.insert(std::this_thread::get_id());
        return {};
      }));
      for (const auto& one : runs) CHECK(one == 1);
      if (threads != 0) CHECK(seen.size() <= threads);
    }
}

TEST_CASE("the error is that of the first task in order, whatever the number of threads") {
  for (const unsigned threads : {1u, 2u, 8u})
    for (int round = 0; round < 20; ++round) {
      const auto done = run_tasks(100, threads, [](size_t i) -> Result<void> {
        if (i % 10 == 7) return fail(Errc::corrupt, "task {}", i);
        if (i % 10 == 9) throw std::bad_alloc();
        return {};
      });
      REQUIRE_FALSE(done);
      CHECK(done.error().message == "task 7");
    }
  const auto done = run_tasks(3, 2, [](size_t) -> Result<void> { throw std::bad_alloc(); });
  REQUIRE_FALSE(done);
  CHECK(done.error().code == Errc::out_of_memory);
}

TEST_CASE("each thread does its share inside what it was given to run it in") {
  thread_local bool inside = false;
  std::atomic<int> outside{0};
  CHECK(run_tasks(
      50, 4,
      [&](size_t) -> Result<void> {
        outside += !inside;
        return {};
      },
      [](const std::function<void()>& share) {
        inside = true;
        share();
        inside = false;
      }));
  CHECK(outside == 0);
}
