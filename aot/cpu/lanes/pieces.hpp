// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the elements lie that the lanes of a gang touch at constant distances from each other, and how few loads or
// stores move them all: whole pieces of what lies side by side, or, for loads, a window over everything.
#pragma once

#include "lanes/shapes.hpp"

#include <optional>
#include <vector>

namespace smelt::aot::cpu::lanes {

struct Pieces {
  unsigned bytes = 0;  ///< of a piece: a power of two up to 64, at least an element
  unsigned element_bytes = 0;
  std::vector<int64_t> at;        ///< of each piece, in ascending order
  std::vector<unsigned> element;  ///< of lane and field, `lane * count + field`: which one of those of all pieces
  bool shared = false;            ///< lanes share elements

  int64_t begin() const { return at.front(); }
  uint64_t span() const { return static_cast<uint64_t>(at.back() - at.front()) + bytes; }
  unsigned elements() const { return static_cast<unsigned>(at.size()) * bytes / element_bytes; }
  /// Bytes from begin() on where an element lies.
  uint64_t place_of(unsigned number) const {
    const unsigned each = bytes / element_bytes;
    return static_cast<uint64_t>(at[number / each] - at.front()) + uint64_t{number % each} * element_bytes;
  }
};

/// Lane l touches `count` elements of `element_bytes` from offset(l) on. Nothing where elements overlap in part.
std::optional<Pieces> pieces_of(const Shape& shape, unsigned lanes, unsigned count, unsigned element_bytes);

}  // namespace smelt::aot::cpu::lanes
