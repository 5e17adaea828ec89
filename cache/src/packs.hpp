// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pack files: append-only segments that hold blobs and entry records.
//
//   packs/NNNNNN.pack    any bytes, each value on a multiple of 64
//
// A pack has no header: where values lie is the database's word, that they are whole is their checksum's. Only the
// holder of the writer lock appends, behind all that the file holds. A value is read by copying it: a sector that
// cannot be read, or a file that was cut, is then an answer of the system and not a signal, and a pack that was removed
// gives its space back while its entries are in use.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/cache/file_layer.hpp"

#include "record.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace smelt::cache {

inline constexpr uint64_t kPackAlignment = 64;

/// What a value of that many bytes takes in a pack.
inline uint64_t aligned(uint64_t bytes) {
  return round_up(bytes, kPackAlignment);
}

/// A pack that is open for reading.
class PackFile {
 public:
  PackFile(const std::string& path, FileLayer& files);
  ~PackFile();
  PackFile(const PackFile&) = delete;
  PackFile& operator=(const PackFile&) = delete;

  bool reaches(uint64_t at, uint64_t bytes) const { return at <= size_ && bytes <= size_ - at; }
  uint64_t size() const { return size_; }
  /// False when the file is gone, does not reach that far or cannot be read.
  bool read(uint64_t at, std::span<std::byte> into) const;

 private:
  FileLayer* files_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

/// Bytes that were copied out of a pack, and who owns them.
struct Copied {
  std::shared_ptr<const std::byte[]> owner;
  ByteView bytes;
};

/// The packs folder of one store. Any thread, but what writes: under the writer lock.
class Packs {
 public:
  Packs(std::string folder, FileLayer& files) : folder_(std::move(folder)), files_(&files) {}

  std::string path(uint64_t pack) const;
  FileLayer& files() const { return *files_; }
  /// A copy of the value; nothing when the file is gone, does not reach that far or cannot be read.
  std::optional<Copied> copy(uint64_t pack, uint64_t at, uint64_t bytes) const;
  /// The same; nothing, too, when the bytes have another checksum.
  std::optional<Copied> copy_whole(uint64_t pack, uint64_t at, uint64_t bytes, const Checksum& sum) const;
  /// Of the files present.
  std::vector<uint64_t> ids() const;
  /// The largest of them, 0 when there is none.
  uint64_t largest_id() const;
  /// Bytes of its file; 0 when there is none.
  uint64_t size(uint64_t pack) const;

  /// Writes at `at`; the file is created when absent.
  Result<void> write(uint64_t pack, uint64_t at, ByteView bytes);
  Result<void> sync(uint64_t pack);
  /// Takes back what a transaction that failed has appended.
  void cut(uint64_t pack, uint64_t size);
  void remove(uint64_t pack);
  /// Closes the descriptor kept for appending.
  void close_writer();
  ~Packs() { close_writer(); }

 private:
  std::string folder_;
  FileLayer* files_;
  int writer_fd_ = -1;
  uint64_t writer_pack_ = 0;
};

}  // namespace smelt::cache
