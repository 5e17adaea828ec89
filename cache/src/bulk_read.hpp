// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many entries at once, copied out of the packs into one piece of memory.
//
// Mapping a pack costs a page fault for every few pages and the same again when it is unmapped; with hundreds of
// entries in a process that has none of them mapped, that is most of the time. One copy into huge pages is cheaper, and
// needs one system call per stretch of the pack. The price is private memory, so it is done for many at once only.
#pragma once

#include "index.hpp"
#include "packs.hpp"

#include <vector>

namespace smelt::cache {

class BulkRead {
 public:
  /// Copies the entries at these places, where that pays: null for few or small ones, when there are no huge pages, or
  /// when a pack cannot be read (the mapping will find out why).
  static std::shared_ptr<BulkRead> read(Packs& packs, const std::vector<Place>& places);
  ~BulkRead();
  BulkRead(const BulkRead&) = delete;
  BulkRead& operator=(const BulkRead&) = delete;

  /// Bytes of a pack, when they are among those copied. Not checked.
  std::optional<ByteView> view(uint64_t pack, uint64_t at, uint64_t bytes) const;

 private:
  BulkRead() = default;
  struct Range {
    uint64_t pack, first, last;  // of the pack
    uint64_t offset;             // in base_
  };
  std::vector<Range> ranges_;  // sorted
  std::byte* base_ = nullptr;
  uint64_t reserved_ = 0;
};

}  // namespace smelt::cache
