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

/// One access, as later ones ask about it. `epoch` and `simd_epoch` count the barriers that the thread had passed,
/// those that order this kind of memory; `fences` those of its group that reach the whole device.
struct Touch {
  static constexpr uint32_t kNobody = ~0u;
  uint32_t thread = kNobody;  ///< group * threads of a whole group + index in the group
  uint32_t place = 0;
  uint16_t epoch = 0;
  uint16_t simd_epoch = 0;
  uint16_t fences = 0;
  bool is_atomic = false;

  bool is_empty() const { return thread == kNobody; }
};

/// The last to write, and two that read since.
struct Cell {
  Touch write;
  std::array<Touch, 2> reads;
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
    std::vector<Cell> cells = std::vector<Cell>(kPageBytes >> 2);
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
