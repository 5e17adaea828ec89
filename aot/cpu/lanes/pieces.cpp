// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lanes/pieces.hpp"

#include <algorithm>

namespace smelt::aot::cpu::lanes {
namespace {

constexpr unsigned kMostBytes = 64;

/// The largest piece that everything that lies side by side is made of.
unsigned piece_bytes(const std::vector<int64_t>& places, unsigned element_bytes) {
  unsigned bytes = kMostBytes;
  for (size_t first = 0; first < places.size();) {
    size_t end = first + 1;
    while (end < places.size() && places[end] == places[end - 1] + element_bytes) ++end;
    while ((end - first) * element_bytes % bytes != 0) bytes /= 2;
    first = end;
  }
  return bytes;
}

}  // namespace

std::optional<Pieces> pieces_of(const Shape& shape, unsigned lanes, unsigned count, unsigned element_bytes) {
  std::vector<int64_t> all;
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned i = 0; i < count; ++i) all.push_back(shape.offset(lane) + int64_t{i} * element_bytes);
  std::vector<int64_t> places = all;
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  for (size_t i = 1; i < places.size(); ++i)
    if (places[i] - places[i - 1] < element_bytes) return std::nullopt;
  Pieces made;
  made.element_bytes = element_bytes;
  made.bytes = piece_bytes(places, element_bytes);
  made.shared = places.size() != all.size();
  const unsigned each = made.bytes / element_bytes;
  for (size_t i = 0; i < places.size(); i += each) made.at.push_back(places[i]);
  for (const int64_t place : all)
    made.element.push_back(
        static_cast<unsigned>(std::lower_bound(places.begin(), places.end(), place) - places.begin()));
  return made;
}

}  // namespace smelt::aot::cpu::lanes
