// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "diff/report.hpp"

#include <set>

namespace smelt::cli {

Page differences_as_page(Json report) {
  Page page;
  page.title =
      fmt::format("smelt diff {} {}", report["a"]["file"].get<std::string>(), report["b"]["file"].get<std::string>());
  for (Json& library : report["libraries"]) {
    Json rows = Json::array();
    for (const Json& function : library["different"]) {
      std::set<std::string> kinds;
      for (const Json& one : function["differences"]) kinds.insert(one["kind"].get<std::string>());
      rows.push_back(
          {{"name", function["name"]}, {"type", function["type"]}, {"kinds", kinds}, {"part", page.parts.size()}});
      page.parts.push_back(packed_part(function));
    }
    library["different"] = std::move(rows);
  }
  page.data = std::move(report);
  return page;
}

}  // namespace smelt::cli
