// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sort that leaves equals in their order. std::stable_sort of libstdc++ 12 calls std::get_temporary_buffer, which
// C++17 deprecates and Clang warns of at each use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace smelt {

/// `values` has random access and elements that can be moved; `less` is a strict weak order of them.
template <class Values, class Less>
void sort_stably(Values& values, Less less) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (less(values[a], values[b])) return true;
    return a < b && !less(values[b], values[a]);
  });
  std::vector<typename Values::value_type> sorted;
  sorted.reserve(values.size());
  for (const size_t at : order) sorted.push_back(std::move(values[at]));
  std::move(sorted.begin(), sorted.end(), values.begin());
}

}  // namespace smelt
