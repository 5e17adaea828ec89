// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many entries at once, copied out of the packs into one piece of memory.
//
// Memory for each of hundreds of entries costs a page fault for every page, and a system call for each is as much
// again. One piece of huge pages for all is cheaper, and needs one call per stretch of a pack. All of it lives as long
// as one of the entries, so it is done for many at once only.
#pragma once

#include "index.hpp"
#include "packs.hpp"

#include <vector>

namespace smelt::cache {

class BulkRead {
 public:
  /// Copies the entries at these places, where that pays: null for few or small ones, when there are no huge pages, or
  /// when a pack cannot be read (reading them one by one finds out which).
  static std::shared_ptr<BulkRead> read(const Packs& packs, const std::vector<Place>& places);
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
