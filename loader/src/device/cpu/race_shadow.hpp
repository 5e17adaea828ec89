// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who touched which bytes of a launch last. The words that the code itself looks at (smelt_cpu_cells) lie in memory
// that the system gives where it is touched; behind each, at a fixed distance, lie two more for what one word cannot
// say. Nothing is cleared between launches: each begins a new era, and what is older counts as nothing.
#pragma once

#include "smelt/schema/cpu_abi.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace smelt::loader {

/// One access, as later ones ask about it, in the bits of a cell (SMELT_CPU_CELL_*). Zero is none.
struct Touch {
  uint64_t bits = 0;

  static constexpr uint64_t kMarks = SMELT_CPU_CELL_WROTE | SMELT_CPU_CELL_MANY | SMELT_CPU_CELL_ASK;

  bool is_empty() const { return bits == 0; }
  uint32_t era() const { return static_cast<uint32_t>(bits >> SMELT_CPU_CELL_ERA_BIT); }
  uint32_t thread() const {
    constexpr uint32_t kBits = SMELT_CPU_CELL_ERA_BIT - SMELT_CPU_CELL_THREAD_BIT;
    return static_cast<uint32_t>(bits >> SMELT_CPU_CELL_THREAD_BIT) & ((1u << kBits) - 1);
  }
  uint32_t site() const { return static_cast<uint32_t>(bits) & ((1u << SMELT_CPU_CELL_SITE_BITS) - 1); }
  bool is_write() const { return (bits & SMELT_CPU_CELL_WRITES) != 0; }
  bool is_atomic() const { return (bits & SMELT_CPU_CELL_ATOMIC) != 0; }
  Touch unmarked() const { return {bits & ~kMarks}; }
  bool operator==(const Touch&) const = default;
};

/// The three words of a cell.
struct Cell {
  uint64_t* last = nullptr;
  uint64_t* second = nullptr;
  uint64_t* write = nullptr;
};

/// Cells of one launch. Their memory is this thread's and is used again by the next launch.
class RaceShadow {
 public:
  static constexpr unsigned kMostCellBytes = 4;
  static constexpr uint32_t kNoBuffer = ~0u;
  static constexpr uint64_t kApart = ~uint64_t{1};  ///< in a cell, of an era that there is not: code asks
  struct Range {
    uint64_t low = 0;
    uint64_t high = 0;
    bool is_threadgroup = false;
    uint32_t buffer = kNoBuffer;     ///< which was bound there
    unsigned char* cells = nullptr;  ///< set by lay_out
  };

  /// `ranges` in any order; those that overlap become one. False: there is no memory.
  bool lay_out(std::vector<Range> ranges);
  ~RaceShadow();
  RaceShadow() = default;
  RaceShadow(const RaceShadow&) = delete;
  RaceShadow& operator=(const RaceShadow&) = delete;

  /// Null for memory that is in none.
  const Range* range_of(uint64_t address) {
    if (last_ != nullptr && address >= last_->low && address < last_->high) return last_;
    return find(address);
  }
  Cell cell(const Range& range, uint64_t number) const {
    auto* const at = reinterpret_cast<uint64_t*>(range.cells) + number;
    return {at, at + distance_, at + 2 * distance_};
  }
  uint64_t bytes_to_second() const { return distance_ * sizeof(uint64_t); }
  /// Of one byte of a cell, whose bytes are apart from then on. Each has what the whole had.
  Cell byte_of(const Cell& whole, unsigned byte);
  static bool is_apart(const Cell& whole) { return *whole.last == kApart; }

  /// Calls see(address, bytes, words) for each cell of memory that is not a threadgroup's, and for each byte of those
  /// that are apart; cells are 1 << `shift` bytes. What nobody has touched may be left out.
  template <class See>
  void each(unsigned shift, const See& see) const;
  /// The words of one byte, which lies in a range.
  std::array<uint64_t, 3> words_at(uint64_t address, unsigned shift);

  /// A new era.
  uint32_t next_era();
  /// Whether eras are about to run out; forget() makes all of them good again, and what was known is gone.
  static bool is_late(uint32_t era) { return era >= 0xfffff000u; }
  void forget();

 private:
  struct Apart {
    std::array<std::array<uint64_t, kMostCellBytes>, 3> words{};
  };
  const Range* find(uint64_t address);
  /// Calls run(first, end) with numbers of words from `words` on that may be other than zero.
  static void each_run(const uint64_t* words, uint64_t count, const std::function<void(uint64_t, uint64_t)>& run);

  std::vector<Range> ranges_;  // by address
  const Range* last_ = nullptr;
  uint64_t distance_ = 0;  // words from one word of a cell to the next
  std::unordered_map<uint64_t*, std::unique_ptr<Apart>> apart_;
};

template <class See>
void RaceShadow::each(unsigned shift, const See& see) const {
  for (const Range& range : ranges_) {
    if (range.is_threadgroup) continue;
    auto* const words = reinterpret_cast<uint64_t*>(range.cells);
    each_run(words, (range.high - range.low) >> shift, [&](uint64_t first, uint64_t end) {
      for (uint64_t i = first; i < end; ++i) {
        const uint64_t address = range.low + (i << shift);
        const Cell whole = cell(range, i);
        if (*whole.last == 0) continue;
        const auto apart = is_apart(whole) ? apart_.find(whole.last) : apart_.end();
        if (apart == apart_.end()) {
          see(address, uint64_t{1} << shift, std::array{*whole.last, *whole.second, *whole.write});
          continue;
        }
        const auto& words_of = apart->second->words;
        for (unsigned byte = 0; byte < 1u << shift; ++byte)
          see(address + byte, uint64_t{1}, std::array{words_of[0][byte], words_of[1][byte], words_of[2][byte]});
      }
    });
  }
}

}  // namespace smelt::loader
