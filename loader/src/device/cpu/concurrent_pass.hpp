// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What dispatches of a concurrent pass have touched since its last barrier. Metal orders nothing between two of them,
// so that none may write what another touches; changes by atomics of both are no fault.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smelt::loader {

/// Any thread.
class ConcurrentPass {
 public:
  enum class Does : uint8_t { reads, writes, changes };  ///< changes: by atomics, which may only read
  static constexpr size_t kKinds = 3;

  /// Bytes that a dispatch touches from one place of its kernel.
  struct Access {
    uint64_t low = 0, high = 0;
    Does does = Does::reads;
    uint32_t place = 0;  ///< which of the dispatch's
  };
  /// An earlier dispatch touches what this one does.
  struct Conflict {
    uint64_t address = 0;     ///< the first byte of it
    Access now;               ///< of this dispatch
    std::string kernel;       ///< of the earlier one
    std::string place;        ///< likewise
    Does does = Does::reads;  ///< likewise
  };

  /// Compares a dispatch that has run, behind that many barriers, with the earlier ones behind as many, and remembers
  /// it. Each pair of places is told of once. Call in an order in which a barrier's later dispatches come after its
  /// earlier ones.
  std::vector<Conflict> add(uint32_t barriers, std::string_view kernel, std::span<const std::string> places,
                            std::span<const Access> accesses);

 private:
  struct Owner {
    std::string kernel, place;
    bool operator==(const Owner&) const = default;
  };
  struct Piece {
    uint64_t high = 0;
    uint32_t owner = 0;
  };
  using Pieces = std::map<uint64_t, Piece>;  // by first byte; none overlaps another

  uint32_t owner_of(std::string_view kernel, std::string_view place);
  static void insert(Pieces& pieces, const Access& access, uint32_t owner);

  std::mutex mutex_;
  uint32_t barriers_ = 0;
  std::array<Pieces, kKinds> pieces_;
  std::vector<Owner> owners_;
  std::set<std::pair<uint32_t, uint32_t>> told_;
};

}  // namespace smelt::loader
