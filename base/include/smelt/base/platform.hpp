// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Linux and macOS do by different calls. Everything else here is POSIX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace smelt::platform {

/// Seconds since the machine started, the time it slept included.
int64_t seconds_since_boot();

/// Milliseconds of a clock that is never set, as cheaply as they can be had; some milliseconds behind at most.
int64_t coarse_milliseconds();

/// Bytes of this process now; 0 where the system does not say.
struct MemoryUse {
  uint64_t mapped = 0;    ///< its address space: what RLIMIT_AS counts
  uint64_t resident = 0;  ///< the memory that it holds
};
MemoryUse memory_use();

/// The calling thread's number, as debuggers show it.
uint64_t thread_id();

/// The calling thread, and those that it starts, let others go first. For good.
void lower_priority();

/// While it lives, the calling thread asks the scheduler for the shortest slices: it runs soon after it wakes, and soon
/// again when it is interrupted. Its share of the processor stays what it was. Does nothing where a thread cannot ask
/// (Linux before 6.12, macOS). Make and destroy it on one thread.
class ShortSlices {
 public:
  ShortSlices();
  ~ShortSlices();
  ShortSlices(const ShortSlices&) = delete;
  ShortSlices& operator=(const ShortSlices&) = delete;

 private:
  uint64_t before_ = 0;  // nanoseconds; 0: nothing was changed
};

/// The calling thread's slice in nanoseconds; 0 where a thread cannot ask for another.
uint64_t scheduler_slice();

/// Gives an empty file `bytes` of room on the disk, so that writing to a mapping of it cannot fail later. 0, or the
/// errno.
int reserve_file(int fd, uint64_t bytes);
/// The same for a file of `from` bytes, which it makes `to` bytes long; or for a part that free_file_range() gave back.
int extend_file(int fd, uint64_t from, uint64_t to);
/// Gives a part of a file back to the disk: it reads as zeros, also through mappings, and the file stays as long. Whole
/// blocks only. 0, or the errno; where a system cannot, nothing happens.
int free_file_range(int fd, uint64_t from, uint64_t to);

/// The file's bytes, and what is needed to find them, are on the disk when it returns: fdatasync(2). 0, or -1 and
/// errno.
int sync_data(int fd);

/// "NFS" and the like where locks or shared mappings do not hold between machines; null for a local file system, or
/// when it cannot be told.
const char* network_file_system(const std::filesystem::path& folder);

/// Where an open file lies.
std::optional<std::filesystem::path> path_of(int fd);

/// The folder of the program or library that holds the code or data at `address`, absolute; empty when it cannot be
/// found. The name by which a program was called does not count: found on PATH it has no folder, and the current folder
/// may be anybody's.
std::filesystem::path folder_of_code(const void* address);

/// Asks for huge pages under a mapping; only a hint.
void advise_huge_pages(void* address, size_t bytes);

}  // namespace smelt::platform
