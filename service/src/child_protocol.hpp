// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is said between a process and the child that compiles for it: one job in, one outcome out. Both are of one
// build, so there is no version but the compiler's identity. What comes back is not believed: it is read with bounds.
#pragma once

#include "build_package.hpp"
#include "recompile.hpp"

#include <chrono>
#include <optional>

namespace smelt::service {

struct ChildJob {
  /// One of them: a request, or a package to recompile.
  std::optional<Request> request;
  std::optional<Bytes> package;
  std::optional<std::vector<CpuCode>> wanted;  ///< of the package
  /// The request has Metal source, which includes files: the child may open what its parent may, from this folder on,
  /// and is held by its limits alone.
  std::optional<std::string> folder;
  bool only_read = false;  ///< the request's sources are read, and nothing is compiled: its answer is an empty package
  unsigned threads = 1;
  std::chrono::milliseconds time{0};  ///< that it may take
  uint64_t memory_bytes = 0;          ///< that the child may have
  unsigned nice = 0;                  ///< how much it lets others go first, 0 to 19; as the thread that asks
};

Bytes write_job(const ChildJob& job);
/// The request's sources borrow from `bytes`.
Result<ChildJob> read_job(ByteView bytes);

Bytes write_outcome(const Result<Built>& outcome);
Result<Built> read_outcome(ByteView bytes);

/// An outcome as a child sends it: its length, itself, a mark of its end. Who asked goes on when it has all of that,
/// and does not wait while the child's memory is taken down.
Bytes framed(ByteView outcome);
/// Whether `answer` begins with all that a child sends.
bool is_complete(ByteView answer);
/// `corrupt`: what is there of an answer, or what it says of its length, is more than a child of so much memory can
/// give. It has had the package and the answer with it in it, so that half of it is more than enough.
Result<void> check_length(ByteView answer, uint64_t memory_bytes);
/// The outcome in a complete answer, which is borrowed.
ByteView unframed(ByteView answer);

/// After what the child sent, by the process that waited for it: its wait status. What is there of an answer that is
/// not complete does not become so by these bytes: no status is, or begins with, a part of the mark.
inline constexpr size_t kStatusBytes = 4;

inline constexpr char kChildProgram[] = "smelt-compile-child";

}  // namespace smelt::service
