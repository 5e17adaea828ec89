// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who touched which bytes of a launch last: shadow of the pages touched, by words of 4 bytes, and by halves or bytes on
// pages where smaller things are touched.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace smelt::loader {

/// One access, as later ones ask about it; all zeros is none. `epoch` and `simd_epoch` count the barriers that the
/// thread had passed, those that order this kind of memory; `fences` those of its group that reach the whole device.
struct Touch {
  uint32_t thread_after = 0;  ///< 1 + group * threads of a whole group + index in the group
  uint16_t epoch = 0;
  uint16_t simd_epoch = 0;
  uint64_t place : 48 = 0;  ///< the text's address
  uint64_t fences : 15 = 0;
  uint64_t is_atomic : 1 = 0;

  bool is_empty() const { return thread_after == 0; }
  uint32_t thread() const { return thread_after - 1; }
  const char* text() const { return reinterpret_cast<const char*>(static_cast<uintptr_t>(place)); }
};
static_assert(sizeof(Touch) == 16);

/// The last to write, and two that read since.
struct Cell {
  Touch write;
  std::array<Touch, 2> reads;
};

/// Cells that begin as zeros. Those of whole pages are used again by the launches of one thread: a page that the system
/// has to give first takes longer than all that is done with it.
class ZeroedCells {
 public:
  explicit ZeroedCells(size_t count);
  ~ZeroedCells();
  ZeroedCells(ZeroedCells&& other) noexcept = default;
  ZeroedCells& operator=(ZeroedCells&& other) noexcept;
  Cell& operator[](size_t i) { return at_[i]; }

 private:
  void give_back();
  size_t count_ = 0;
  std::unique_ptr<Cell[]> at_;
};

class RaceShadow {
 public:
  static constexpr unsigned kPageBits = 12;
  static constexpr uint64_t kPageBytes = uint64_t{1} << kPageBits;

  struct Range {
    uint64_t low = 0;
    uint64_t high = 0;
    bool is_threadgroup = false;
  };

  /// Only pages of these are kept.
  void add_range(const Range& range) { ranges_.push_back(range); }

  struct Page {
    unsigned shift = 2;  ///< a cell is 1 << shift bytes
    bool is_threadgroup = false;
    ZeroedCells cells{kPageBytes >> 2};
    /// Cells of 1 << to bytes; each has what the larger one had.
    void refine(unsigned to);
  };

  /// Null for memory that is in no range.
  Page* page(uint64_t number) {
    Seen& seen = seen_[number % seen_.size()];
    if (seen.number != number) seen = {number, find(number)};
    return seen.page;
  }

 private:
  struct Seen {
    uint64_t number = ~uint64_t{0};
    Page* page = nullptr;
  };
  Page* find(uint64_t number);

  std::vector<Range> ranges_;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  std::array<Seen, 64> seen_{};
};

}  // namespace smelt::loader
