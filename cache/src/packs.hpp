// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pack files: append-only segments that hold blobs and entry records.
//
//   packs/NNNNNN.pack    any bytes, each value on a multiple of 64
//
// A pack has no header: where values lie is the database's word, that they are whole is their checksum's. Only the
// holder of the writer lock appends, at the length that the database has committed, so the tail of a writer that died
// is overwritten. A pack is never cut or punched: a reader may have it mapped. It is removed whole, and mapped readers
// keep the inode.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/cache/file_layer.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <shared_mutex>
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

/// One pack, mapped read-only for its whole possible size, so that it can grow without moving.
class MappedPack {
 public:
  static Result<std::shared_ptr<MappedPack>> open(const std::string& path, uint64_t reserve);
  ~MappedPack();
  MappedPack(const MappedPack&) = delete;
  MappedPack& operator=(const MappedPack&) = delete;

  /// The bytes, or nothing when the file does not (yet) reach that far. Any thread.
  std::optional<ByteView> view(uint64_t at, uint64_t bytes);
  /// Copies bytes of the file that need not be mapped; false when it does not reach that far. Any thread.
  bool copy(uint64_t at, std::span<std::byte> into);
  /// Whether the value at `at` has been checked in this process; `set_checked` remembers it. Any thread.
  bool checked(uint64_t at) const;
  void set_checked(uint64_t at);

 private:
  MappedPack() = default;
  int fd_ = -1;
  const std::byte* base_ = nullptr;
  uint64_t reserved_ = 0;
  std::atomic<uint64_t> size_{0};  // as last seen; the file only grows

  // A bit per 64 bytes, in tables made where a value is first checked: opening a store must not touch 128 KB for that.
  struct CheckedTable {
    std::array<std::atomic<uint64_t>, 64> bits{};
  };
  static constexpr uint64_t kTableBytes = 64 * 64 * kPackAlignment;  // of the pack
  std::vector<std::atomic<CheckedTable*>> checked_;
};

/// The packs folder of one store in this process. Any thread.
class Packs {
 public:
  Packs(std::string folder, uint64_t segment_bytes, FileLayer& files)
      : folder_(std::move(folder)), segment_bytes_(segment_bytes), files_(&files) {}

  std::string path(uint64_t pack) const;
  /// The mapping, made on first use; null when the file is gone.
  std::shared_ptr<MappedPack> find(uint64_t pack);
  /// Forgets the mapping (its users keep it).
  void forget(uint64_t pack);
  /// Of the files present.
  std::vector<uint64_t> ids() const;
  /// The largest of them, 0 when there is none.
  uint64_t largest_id() const;

  /// Writes at `at`; the file is created when absent.
  Result<void> write(uint64_t pack, uint64_t at, ByteView bytes);
  Result<void> sync(uint64_t pack);
  void remove(uint64_t pack);
  /// Forgets everything: the folder is another one now. Call without a write under way.
  void clear();
  /// Closes the descriptor kept for appending. Call under the writer lock.
  void close_writer();
  ~Packs() { close_writer(); }

 private:
  using Mapped = std::pair<uint64_t, std::shared_ptr<MappedPack>>;
  /// Where the pack is among those mapped, or would be. Under `mutex_`.
  std::vector<Mapped>::iterator at(uint64_t pack);

  std::string folder_;
  uint64_t segment_bytes_;
  FileLayer* files_;
  std::shared_mutex mutex_;
  std::vector<Mapped> mapped_;  // by id
  int writer_fd_ = -1;          // under the writer lock
  uint64_t writer_pack_ = 0;
};

}  // namespace smelt::cache
