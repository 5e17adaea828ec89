// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading what others made in a child of this process: a fault, an endless loop or a lock that is never given back ends
// the child and no more.
#pragma once

#include "smelt/base/bytes.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace smelt::service {

struct ReadingBounds {
  std::chrono::milliseconds time{0};  ///< on the wall's clock, and of the processor; 0: an hour
  uint64_t memory_bytes = 0;          ///< beyond what this process has; 0: 8 GiB
  /// It reads files as this process may (Metal source includes them), and is held by its limits alone; memory is then
  /// all that it holds.
  bool files = false;
};

/// What `work` gives, in a fork of this process, which has its memory as it is now and, but for `files`, can open
/// nothing, talk to nobody and make no code; its threads are its own. For a process with one thread alone: of others
/// the fork might hold a lock that nobody gives back.
///
/// Errors: those of `work`; `toolchain_missing` where there is no such child to be had (not on Linux, no more
/// processes, no filter of system calls); `cancelled` at a limit, which it names; `corrupt` when the child died, or
/// waits and nothing can end that. What comes back was made by a process that its input may have taken over.
Result<Bytes> read_in_child(const ReadingBounds& bounds, const std::function<Result<Bytes>()>& work);

/// The same, and here where there is no such child; `warn` is told first.
Result<Bytes> read_in_child_if_there_is_one(const ReadingBounds& bounds, const std::function<Result<Bytes>()>& work,
                                            const std::function<void(std::string_view)>& warn);

/// Lines of text that a child gave back, with what steers a terminal replaced.
std::string plain_lines(ByteView text);

}  // namespace smelt::service
