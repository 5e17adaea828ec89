// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The store as a page: `smelt store page -o store.html`.
#pragma once

#include "page/page.hpp"
#include "store/rows.hpp"

namespace smelt::cli {

/// `stat` is of the same store, `now` in seconds since 1970.
Page store_page(const std::vector<StoreRow>& rows, const cache::StoreStat& stat, const std::string& folder,
                std::time_t now);

}  // namespace smelt::cli
