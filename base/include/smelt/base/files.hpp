// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files: read whole, map, and write so that a reader sees the old bytes or the new ones, never half.
#pragma once

#include "smelt/base/bytes.hpp"

#include <filesystem>
#include <memory>

namespace smelt {

/// The whole file, or stdin for "-". Errors keep errno's text: file_not_found or io.
Result<Bytes> read_file(const std::filesystem::path& path);

/// Writes to a temporary neighbour, then renames. Nothing is left behind on failure. "-" is stdout.
Result<void> write_file(const std::filesystem::path& path, ByteView bytes);

/// A read-only private mapping of a whole file; bytes stay valid until the last owner goes. Thread-safe to read.
/// The file must not be truncated by others while it is mapped (the kernel would answer with SIGBUS).
class MappedFile {
 public:
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ByteView bytes() const { return bytes_; }

 private:
  explicit MappedFile(ByteView bytes) : bytes_(bytes) {}
  ByteView bytes_;
};

}  // namespace smelt
