// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/tasks.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace smelt {
namespace {

Result<void> guarded(const std::function<Result<void>(size_t)>& task, size_t i) {
  try {
    return task(i);
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "out of memory");
  }
}

}  // namespace

Result<void> run_tasks(size_t count, unsigned threads, const std::function<Result<void>(size_t)>& task,
                       const std::function<void(const std::function<void()>&)>& on_thread) {
  std::atomic<size_t> next{0};
  std::atomic<size_t> first_failed{std::numeric_limits<size_t>::max()};
  std::vector<std::optional<Error>> errors(count);
  const std::function<void()> share = [&] {
    for (size_t i = next++; i < count; i = next++) {
      if (i > first_failed) continue;  // what comes before a failure still runs: it may fail earlier in order
      Result<void> done = guarded(task, i);
      if (done) continue;
      errors[i] = std::move(done).error();
      size_t seen = first_failed;
      while (i < seen && !first_failed.compare_exchange_weak(seen, i)) {
      }
    }
  };
  const auto work = [&] { on_thread ? on_thread(share) : share(); };
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> helpers;
  helpers.reserve(std::min<size_t>(threads, count));
  try {
    for (size_t i = 1; i < std::min<size_t>(threads, count); ++i) helpers.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads to be had: those that there are do it.
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  for (std::optional<Error>& error : errors)
    if (error) return tl::unexpected(std::move(*error));
  return {};
}

}  // namespace smelt
