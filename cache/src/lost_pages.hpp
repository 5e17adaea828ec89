// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared mappings whose file may lose a page: it lies on a sector that cannot be read, or somebody cut the file. The
// kernel answers with SIGBUS, and a program that only asked for a cache would end. Here such a mapping reads as zeros
// from then on, is nobody else's any more, and says so.
//
// For the index alone, which has to be shared and is asked in 0.1 us. Everything else of a store is read by copying it.
#pragma once

#include <atomic>
#include <cstddef>

namespace smelt::cache {

/// Watches the mapping until it goes, which must be before it is unmapped. Any thread; there is room for some hundred
/// mappings, and more are not watched. Signals that are not about one of them go to whoever had SIGBUS before.
class LostPages {
 public:
  LostPages(void* base, size_t bytes);
  ~LostPages();
  LostPages(const LostPages&) = delete;
  LostPages& operator=(const LostPages&) = delete;
  bool lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> lost_{false};
  int slot_ = -1;
};

}  // namespace smelt::cache
