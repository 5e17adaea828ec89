// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a child does to itself before it looks at a byte of what others made.
#pragma once

#include "smelt/base/bytes.hpp"

#include "filter.hpp"

#include <time.h>

#include <chrono>

namespace smelt::service {

/// How children end that did not come to an answer.
inline constexpr int kNoDescriptors = 120, kNoMessage = 121, kNoFilter = 122, kNoAnswer = 123, kNoFork = 124;

struct ChildBounds {
  std::chrono::milliseconds time{0};  ///< of the processor, for each thread; for watch(): of the clock
  unsigned threads = 1;
  uint64_t mapped = 0;        ///< the address space that is not the job's
  uint64_t memory_bytes = 0;  ///< beyond that
  Bytes shortage;             ///< the answer when there is no memory left
};

/// Descriptor 0 becomes `socket`, and the only one. No core from here on; ends with the parent.
void keep_only(int socket);

/// From here on the limits and the filter hold, for as long as the process lives, and nothing can be opened.
void enter_sandbox(ChildBounds bounds, scmp_filter_ctx filter);

/// For a child that reads files as whoever started it may: nothing but limits, of the clock and of what it holds in
/// memory, looked at by a thread of its own every few milliseconds. Whatever else the process does then, it ends there
/// with `shortage`, or with `late`. Space that is mapped and not used, as stacks are, is bounded generously.
void watch(ChildBounds bounds, Bytes late);

/// Sends an answer and ends the process: status 0 when all of it was sent. Of several threads the first one does.
[[noreturn]] void answer_and_end(ByteView answer);

/// Answers that there is no memory left, where that is met: LLVM is not made to be unwound by exceptions, and what is
/// half built would crash where it is taken down.
[[noreturn]] void give_up();
/// Whether a request of a fair size would fail now. Memory that is left in smaller pieces may be why one did.
bool is_memory_used_up();

bool write_all(int to, ByteView bytes);

/// For those who wait for a child: after a fault it may wait for a lock that nobody gives back, which takes no time of
/// the processor and so comes to no limit of it. So long nobody waits who computes.
inline constexpr std::chrono::seconds kMostIdle{10};

/// Whether a process used the processor since it was asked last; true when that cannot be told.
class ProcessorWatch {
 public:
  explicit ProcessorWatch(pid_t process) : known_(::clock_getcpuclockid(process, &clock_) == 0) {}
  bool works() {
    timespec now{};
    if (!known_ || ::clock_gettime(clock_, &now) != 0) return true;
    const bool worked = now.tv_sec != used_.tv_sec || now.tv_nsec != used_.tv_nsec;
    used_ = now;
    return worked;
  }

 private:
  clockid_t clock_{};
  bool known_;
  timespec used_{};
};

}  // namespace smelt::service
