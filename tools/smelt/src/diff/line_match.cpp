// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "diff/line_match.hpp"

#include <algorithm>

namespace smelt::cli {
namespace {

/// Edits from which on two texts have too little in common: the trace takes this number squared, in words.
constexpr ptrdiff_t kMostEdits = 2000;

using Matches = std::vector<std::optional<size_t>>;

/// How far along each diagonal k = x - y so many edits lead, for each number of edits.
class EditScript {
 public:
  EditScript(std::span<const uint32_t> a, std::span<const uint32_t> b) : a_(a), b_(b) {}

  /// Puts the lines that are the same, counted from `base`, into `matches`.
  void apply(Matches& matches, size_t base) {
    const auto size_a = static_cast<ptrdiff_t>(a_.size()), size_b = static_cast<ptrdiff_t>(b_.size());
    const ptrdiff_t most = std::min(size_a + size_b, kMostEdits);
    std::vector<ptrdiff_t> furthest(static_cast<size_t>(2 * most + 3), 0);
    const auto at = [&](ptrdiff_t k) -> ptrdiff_t& { return furthest[static_cast<size_t>(k + most + 1)]; };
    for (ptrdiff_t edits = 0; edits <= most; ++edits) {
      trace_.emplace_back(furthest.begin() + (most + 1 - edits - 1), furthest.begin() + (most + 1 + edits + 2));
      for (ptrdiff_t k = -edits; k <= edits; k += 2) {
        const bool down = k == -edits || (k != edits && at(k - 1) < at(k + 1));
        ptrdiff_t x = down ? at(k + 1) : at(k - 1) + 1;
        while (x < size_a && x - k < size_b && same(x, x - k)) ++x;
        at(k) = x;
        if (x >= size_a && x - k >= size_b) return walk_back(matches, base);
      }
    }
  }

 private:
  bool same(ptrdiff_t x, ptrdiff_t y) const { return a_[static_cast<size_t>(x)] == b_[static_cast<size_t>(y)]; }

  void walk_back(Matches& matches, size_t base) const {
    auto x = static_cast<ptrdiff_t>(a_.size()), y = static_cast<ptrdiff_t>(b_.size());
    for (auto edits = static_cast<ptrdiff_t>(trace_.size()) - 1; edits >= 0; --edits) {
      const std::vector<ptrdiff_t>& before = trace_[static_cast<size_t>(edits)];
      const auto at = [&](ptrdiff_t k) { return before[static_cast<size_t>(k + edits + 1)]; };
      const ptrdiff_t k = x - y;
      const bool down = k == -edits || (k != edits && at(k - 1) < at(k + 1));
      const ptrdiff_t from_x = edits == 0 ? 0 : down ? at(k + 1) : at(k - 1);
      const ptrdiff_t from_y = edits == 0 ? 0 : from_x - (down ? k + 1 : k - 1);
      while (x > from_x && y > from_y) {
        --x, --y;
        matches[base + static_cast<size_t>(x)] = base + static_cast<size_t>(y);
      }
      x = from_x;
      y = from_y;
    }
  }

  std::span<const uint32_t> a_, b_;
  std::vector<std::vector<ptrdiff_t>> trace_;  ///< the diagonals -d-1 to d+1 before d edits
};

}  // namespace

Matches match_lines(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  Matches matches(a.size());
  size_t front = 0, back = 0;
  const size_t shorter = std::min(a.size(), b.size());
  for (; front < shorter && a[front] == b[front]; ++front) matches[front] = front;
  for (; back < shorter - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]; ++back)
    matches[a.size() - 1 - back] = b.size() - 1 - back;
  EditScript(a.subspan(front, a.size() - front - back), b.subspan(front, b.size() - front - back))
      .apply(matches, front);
  return matches;
}

}  // namespace smelt::cli
