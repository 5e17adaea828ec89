// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "store/page.hpp"

namespace smelt::cli {

Page store_page(const std::vector<StoreRow>& rows, const cache::StoreStat& stat, const std::string& folder,
                std::time_t now) {
  Page page;
  page.title = "smelt store " + folder;
  Json entries = Json::array();
  for (const StoreRow& row : rows) {
    Json entry = row_as_json(row);
    entry["part"] = page.parts.size();
    page.parts.push_back(packed_part(entry));
    // What the list shows and is searched by; the rest is read when the entry is opened.
    for (const char* const only_inside : {"compiler", "origin", "source_sha256"}) entry.erase(only_inside);
    entries.push_back(std::move(entry));
  }
  page.data = {{"kind", "store"},
               {"folder", folder},
               {"now", now},
               {"live_bytes", stat.live_bytes},
               {"disk_bytes", stat.disk_bytes},
               {"hits", stat.counters.hits},
               {"misses", stat.counters.misses},
               {"microseconds_saved", stat.counters.microseconds_saved},
               {"entries", std::move(entries)}};
  return page;
}

}  // namespace smelt::cli
