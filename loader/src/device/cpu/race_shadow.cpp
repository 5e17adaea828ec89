// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "race_shadow.hpp"

#include <algorithm>
#include <utility>

namespace smelt::loader {
namespace {

constexpr size_t kUsualCells = RaceShadow::kPageBytes >> 2;
constexpr size_t kMostKept = (uint64_t{64} << 20) / (kUsualCells * sizeof(Cell));  // 64 MiB for a thread

thread_local std::vector<std::unique_ptr<Cell[]>> kept_cells;

}  // namespace

ZeroedCells::ZeroedCells(size_t count) : count_(count) {
  if (count != kUsualCells || kept_cells.empty()) {
    at_ = std::make_unique<Cell[]>(count);
    return;
  }
  at_ = std::move(kept_cells.back());
  kept_cells.pop_back();
  std::fill_n(at_.get(), count, Cell());
}

void ZeroedCells::give_back() {
  if (at_ && count_ == kUsualCells && kept_cells.size() < kMostKept) kept_cells.push_back(std::move(at_));
}

ZeroedCells::~ZeroedCells() {
  give_back();
}

ZeroedCells& ZeroedCells::operator=(ZeroedCells&& other) noexcept {
  give_back();
  count_ = other.count_;
  at_ = std::move(other.at_);
  return *this;
}

void RaceShadow::Page::refine(unsigned to) {
  const size_t count = kPageBytes >> to;
  ZeroedCells finer(count);
  for (size_t i = 0; i < count; ++i) finer[i] = cells[i >> (shift - to)];
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
