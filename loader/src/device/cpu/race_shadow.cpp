// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "race_shadow.hpp"

namespace smelt::loader {

void RaceShadow::Page::refine(unsigned to) {
  std::vector<Cell> finer(kPageBytes >> to);
  for (size_t i = 0; i < finer.size(); ++i) finer[i] = cells[i >> (shift - to)];
  cells = std::move(finer);
  shift = to;
}

RaceShadow::Page* RaceShadow::find(uint64_t number) {
  const auto known = pages_.find(number);
  if (known != pages_.end()) return known->second.get();
  const uint64_t low = number << kPageBits;
  std::unique_ptr<Page> page;
  for (const Range& range : ranges_)
    if (range.low < low + kPageBytes && low < range.high) {
      page = std::make_unique<Page>();
      page->is_threadgroup = range.is_threadgroup;
      break;
    }
  return pages_.emplace(number, std::move(page)).first->second.get();
}

}  // namespace smelt::loader
