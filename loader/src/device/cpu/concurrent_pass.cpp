// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "concurrent_pass.hpp"

#include "smelt/loader/encoder.hpp"

#include <algorithm>

namespace smelt::loader {
namespace {

constexpr size_t kMostPieces = size_t{1} << 20;  // of one kind: what is beyond is not compared

bool are_at_odds(ConcurrentPass::Does a, ConcurrentPass::Does b) {
  using Does = ConcurrentPass::Does;
  if (a == b) return a == Does::writes;
  return true;  // one of them writes, or only one is an atomic
}

}  // namespace

ConcurrentPassRef make_concurrent_pass() {
  return std::make_shared<ConcurrentPass>();
}

uint32_t ConcurrentPass::owner_of(std::string_view kernel, std::string_view place) {
  for (uint32_t i = 0; i < owners_.size(); ++i)
    if (owners_[i].kernel == kernel && owners_[i].place == place) return i;
  owners_.push_back({std::string(kernel), std::string(place)});
  return static_cast<uint32_t>(owners_.size() - 1);
}

/// What is there stays: of two dispatches that do the same the first is as good.
void ConcurrentPass::insert(Pieces& pieces, const Access& access, uint32_t owner) {
  uint64_t low = access.low;
  auto next = pieces.upper_bound(low);
  if (next != pieces.begin()) low = std::max(low, std::prev(next)->second.high);
  while (low < access.high && pieces.size() < kMostPieces) {
    const uint64_t high = next != pieces.end() ? std::min(access.high, next->first) : access.high;
    if (low < high) pieces.emplace_hint(next, low, Piece{high, owner});
    if (next == pieces.end()) return;
    low = next->second.high;
    ++next;
  }
}

std::vector<ConcurrentPass::Conflict> ConcurrentPass::add(uint32_t barriers, std::string_view kernel,
                                                          std::span<const std::string> places,
                                                          std::span<const Access> accesses) {
  const std::lock_guard guard(mutex_);
  if (barriers != barriers_) {
    for (Pieces& pieces : pieces_) pieces.clear();
    barriers_ = barriers;
  }
  std::vector<uint32_t> owners;
  owners.reserve(places.size());
  for (const std::string& place : places) owners.push_back(owner_of(kernel, place));
  std::vector<Conflict> found;
  for (const Access& access : accesses)
    for (size_t kind = 0; kind < kKinds; ++kind) {
      if (!are_at_odds(access.does, static_cast<Does>(kind))) continue;
      const Pieces& pieces = pieces_[kind];
      auto at = pieces.upper_bound(access.low);
      if (at != pieces.begin() && std::prev(at)->second.high > access.low) --at;
      for (; at != pieces.end() && at->first < access.high; ++at) {
        const uint32_t earlier = at->second.owner;
        const uint32_t now = owners[access.place];
        if (!told_.emplace(std::min(earlier, now), std::max(earlier, now)).second) continue;
        found.push_back({std::max(access.low, at->first), access, owners_[earlier].kernel, owners_[earlier].place,
                         static_cast<Does>(kind)});
      }
    }
  for (const Access& access : accesses) insert(pieces_[static_cast<size_t>(access.does)], access, owners[access.place]);
  return found;
}

}  // namespace smelt::loader
