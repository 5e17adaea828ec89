// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The entries of a store as people and programs see them: `smelt store list`, `show` and `page`.
#pragma once

#include "smelt/cache/store.hpp"
#include "smelt/service/entry_facts.hpp"

#include "inspect_report.hpp"

#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace smelt::cli {

struct StoreRow {
  cache::EntryInfo info;
  service::EntryFacts facts;
  std::vector<std::string> tags;  ///< NAME@VERSION each
  std::string damage;             ///< why its bytes cannot be read; empty when they can
};

/// All entries, those first that were used last. Nothing counts as a use of them.
Result<void> each_row(cache::Store& store, const std::function<Result<void>(const StoreRow&)>& body);
Result<std::vector<StoreRow>> read_rows(cache::Store& store);
/// One of them. `not_cached` when it is not there, `store_corrupt` when it is damaged.
Result<StoreRow> read_row(cache::Store& store, const Digest& key);

Json row_as_json(const StoreRow& row);
/// A line of a table, and the one above it; `now` in seconds since 1970.
std::string rows_head();
std::string row_as_line(const StoreRow& row, std::time_t now);
/// All that is known of one, a fact a line; its parts aside.
std::string row_as_text(const StoreRow& row, std::time_t now);

}  // namespace smelt::cli
