// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attribute lists down to LLVM 14: newer kinds are dropped, memory(...) is decomposed. See
// docs/design/bitcode-writer.md section 7.
#pragma once

#include "bitcode/types.hpp"

#include "llvm/IR/Attributes.h"

namespace smelt::aot::bitcode {

class AttributeTable {
 public:
  /// `below_air_2_6`: leave out the six kinds that older services abort on (docs/formats/air.md 4.3).
  AttributeTable(TypeTable& types, bool below_air_2_6) : types_(types), below_air_2_6_(below_air_2_6) {}

  /// Counted from 1; 0 for a list in which nothing is left. Types that attributes name are interned on the way, so all
  /// lists must be asked for before the type table is written.
  uint32_t list(llvm::AttributeList list);
  void write(BitWriter& out) const;

 private:
  void encode(llvm::Attribute attribute, std::vector<uint64_t>& record);
  uint32_t group(llvm::AttributeSet set, uint32_t place);

  using Records = std::vector<std::vector<uint64_t>>;
  TypeTable& types_;
  bool below_air_2_6_;
  Records groups_, lists_;
  // LLVM has made both unique, so their addresses are names enough; ids are given in order of first need.
  llvm::DenseMap<std::pair<llvm::AttributeSet, uint32_t>, uint32_t> known_groups_;
  llvm::DenseMap<void*, uint32_t> known_lists_;
};

}  // namespace smelt::aot::bitcode
