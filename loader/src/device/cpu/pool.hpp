// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Worker threads for dispatches. The caller always takes part, so a pool of one thread has no workers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace smelt::loader {

/// Threads: run() may be called from any thread; one job has the workers at a time, and a caller that finds them taken
/// does its job alone (the processors are busy anyway).
class Pool {
 public:
  /// A job is a number of chunks, taken in order by whoever is free. Lives on the caller's stack.
  class Job {
   public:
    explicit Job(uint64_t chunks) : chunks_(chunks) {}
    virtual ~Job() = default;
    /// Called by each thread that takes part, once: run chunks while take() gives any.
    /// `worker` is 0 for the caller, else below Pool::threads(); no two threads of a job share it.
    virtual void work(unsigned worker) = 0;

   protected:
    bool take(uint64_t& chunk) { return (chunk = next_.fetch_add(1, std::memory_order_relaxed)) < chunks_; }
    uint64_t chunks() const { return chunks_; }

   private:
    friend class Pool;
    const uint64_t chunks_;
    std::atomic<uint64_t> next_{0};
    std::atomic<unsigned> active_{0};  // workers inside work()
  };

  /// `threads` includes the caller; workers start with the first job that wants them.
  explicit Pool(unsigned threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  unsigned threads() const { return threads_; }
  /// Whether a worker looks for a job at this moment, so that none has to be woken.
  bool awake() const { return spinning_.load(std::memory_order_relaxed) != 0; }

  /// Returns when every chunk has run. At most `limit` threads work on it, the caller included.
  void run(Job& job, unsigned limit);

 private:
  void start_workers();
  void serve(unsigned worker);
  Job* wait_for_job(unsigned worker, uint64_t& seen);

  const unsigned threads_;
  int process_ = 0;  // that the workers live in: a forked child has none of them
  std::atomic<bool> taken_{false};
  std::atomic<unsigned> spinning_{0};  // workers that look for a job and do not sleep yet
  std::atomic<uint64_t> generation_{0};
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  Job* job_ = nullptr;
  unsigned limit_ = 0;
  bool stop_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace smelt::loader
