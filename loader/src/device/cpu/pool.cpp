// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A worker that has just finished spins a little before it sleeps: in a series of dispatches the next one comes within
// microseconds, and waking a sleeping thread costs more than that.
#include "pool.hpp"

#include "float_mode.hpp"

#include <unistd.h>

#include <system_error>

namespace smelt::loader {
namespace {

constexpr int kSpins = 400;

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

Pool::Pool(unsigned threads) : threads_(threads == 0 ? 1 : threads), process_(::getpid()) {}

Pool::~Pool() {
  if (process_ != ::getpid()) {
    for (std::thread& worker : workers_) worker.detach();  // they were never here
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    generation_.fetch_add(1, std::memory_order_release);
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Pool::start_workers() {
  workers_.reserve(threads_ - 1);
  try {
    for (unsigned worker = 1; worker < threads_; ++worker) workers_.emplace_back([this, worker] { serve(worker); });
  } catch (const std::system_error&) {
    // No more threads to be had: the caller's own and those that there are take all chunks.
  }
}

void Pool::run(Job& job, unsigned limit) {
  if (threads_ == 1 || limit <= 1 || job.chunks_ <= 1 || process_ != ::getpid() ||
      taken_.exchange(true, std::memory_order_acquire)) {
    job.work(0);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (workers_.empty()) start_workers();
    job_ = &job;
    limit_ = limit;
    generation_.fetch_add(1, std::memory_order_release);
  }
  wake_.notify_all();
  job.work(0);
  {
    // From here no worker can enter the job; those inside finish the chunks they have taken.
    const std::lock_guard lock(mutex_);
    job_ = nullptr;
  }
  for (int spins = 0; job.active_.load(std::memory_order_acquire) != 0; ++spins) {
    if (spins < kSpins)
      relax();
    else
      std::this_thread::yield();
  }
  taken_.store(false, std::memory_order_release);
}

Pool::Job* Pool::wait_for_job(unsigned worker, uint64_t& seen) {
  spinning_.fetch_add(1, std::memory_order_relaxed);
  for (int spins = 0; spins < kSpins && generation_.load(std::memory_order_acquire) == seen; ++spins) relax();
  spinning_.fetch_sub(1, std::memory_order_relaxed);
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return generation_.load(std::memory_order_relaxed) != seen; });
  seen = generation_.load(std::memory_order_relaxed);
  if (stop_ || job_ == nullptr || worker >= limit_) return nullptr;
  job_->active_.fetch_add(1, std::memory_order_relaxed);
  return job_;
}

void Pool::serve(unsigned worker) {
  const FloatMode mode;
  uint64_t seen = 0;
  for (;;) {
    Job* const job = wait_for_job(worker, seen);
    if (job == nullptr) {
      const std::lock_guard lock(mutex_);
      if (stop_) return;
      continue;
    }
    job->work(worker);
    job->active_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace smelt::loader
