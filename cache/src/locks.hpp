// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Byte-range locks of the `locks` file. Open-file-description locks: they exclude threads as well as processes when
// each holder has its own descriptor, and the kernel drops them when the holder dies.
#pragma once

#include "smelt/base/platform.hpp"
#include "smelt/base/result.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>

namespace smelt::cache {

inline constexpr uint64_t kFlightBytes = uint64_t{1} << 24;  ///< bytes 0 .. 2^24-1: one per key (mod 2^24)
inline constexpr uint64_t kWriterByte = kFlightBytes;    ///< held while publishing: a fair queue before BEGIN IMMEDIATE
inline constexpr uint64_t kTrimByte = kFlightBytes + 1;  ///< held while trimming
inline constexpr uint64_t kBeatByte = kFlightBytes + 2;  ///< and one more per key: taken and given back in turn

std::string lock_file_path(const std::filesystem::path& folder);
/// Opens (creating) the lock file. A forked child has none that its parent opened: a lock would last until both have
/// closed it.
Result<int> open_lock_file(const std::filesystem::path& folder);
/// Closes one; -1 is none.
void close_lock_file(int fd);
/// Around fork(): nobody opens or closes one in between. Afterwards the child has none.
void hold_lock_files();
void release_lock_files(bool in_child);

/// False: somebody has it, or the system failed.
bool lock_byte(int fd, uint64_t byte);
/// In turn with all who wait. False after `most`: the descriptor must be closed then, since the wait goes on with it.
/// `waits` is called after the first second.
bool lock_byte_within(int fd, uint64_t byte, std::chrono::milliseconds most, const std::function<void()>& waits);
/// True when another holder has it.
bool is_locked(int fd, uint64_t byte);
void unlock_byte(int fd, uint64_t byte);

/// Lock for a scope, if nobody has it.
class ByteLock {
 public:
  ByteLock(int fd, uint64_t byte) : fd_(fd), byte_(byte), held_(lock_byte(fd, byte)) {}
  ~ByteLock() {
    if (held_) unlock_byte(fd_, byte_);
  }
  ByteLock(const ByteLock&) = delete;
  ByteLock& operator=(const ByteLock&) = delete;
  bool held() const { return held_; }

 private:
  int fd_;
  uint64_t byte_;
  bool held_;
};

/// How long the writers of a store wait for each other. Used by one thread at a time.
struct WriterWait {
  std::chrono::milliseconds most{10000};
  std::function<void()> waits;                                  ///< called after a second
  int64_t contended = std::numeric_limits<int64_t>::min() / 2;  ///< when one last waited
  bool in_vain = false;  ///< the last one did: the next wait only a moment, until one gets the lock
};

/// The writer lock for a transaction. A holder may be stopped (a terminal, a container, a debugger), so it is not
/// waited for without end. Where several write at once, the threads at it ask for short slices: the one that gets the
/// lock runs soon, and the one that has it is not kept from the processor for long while the others wait.
class WriterLock {
 public:
  /// `fd` is closed, and -1, when the lock was not to be had.
  WriterLock(int& fd, WriterWait& wait);
  ~WriterLock();
  bool held() const { return held_; }

 private:
  std::optional<platform::ShortSlices> slices_;  // goes last: who waits gets the lock first
  int fd_;
  bool held_;
};

}  // namespace smelt::cache
