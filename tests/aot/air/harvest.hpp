// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every declaration found in Apple's own bitcode: tests/aot/data/air-harvest.tsv.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smelt::test {

struct HarvestRow {
  std::string name;
  std::string type;  ///< typed pointers, attributes and LLVM's .0 suffixes left out
};

std::vector<HarvestRow> harvest();

/// "void (half addrspace(3)* nocapture, i64)" without what says nothing about the type.
std::string without_attributes(std::string type);

}  // namespace smelt::test
