// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes to Library. Every bound is checked once, here; see docs/formats/metallib.md 14.
#pragma once

#include "smelt/metallib/library.hpp"

namespace smelt::metallib {

struct ReadOptions {
  bool check_hashes = true;  ///< off: a HASH that does not match its module is kept as it is
  bool allow_newer = false;  ///< on: a container above 1.2.9 is read if it has the known shape
  /// Keeps the image alive as long as the library and its copies. Null: the caller does.
  std::shared_ptr<const void> owner;
};

/// The library that `image` is, from its first byte to its last. Views in the result point into `image`.
///
/// Errors: not_metallib (shorter than 4 bytes or another magic; says what it looks like), truncated (header incomplete
/// or fewer bytes than it claims), format_newer, unsupported (container older than 1.2.2), corrupt (all else).
Result<Library> read(ByteView image, const ReadOptions& options = {});

/// The same, owning the bytes.
Result<Library> read_owned(Bytes image, ReadOptions options = {});

/// A guess at what the bytes are if they are not a metallib ("LLVM bitcode", "a Git LFS pointer, not the file itself",
/// ...).
std::string looks_like(ByteView bytes);

bool is_metallib(ByteView bytes);

}  // namespace smelt::metallib
