// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "harvest.hpp"

#include "files.hpp"

#include <regex>
#include <sstream>

namespace smelt::test {

std::string without_attributes(std::string type) {
  static const std::regex attributes(" (nocapture|readonly|writeonly|readnone|noalias|immarg|noundef)\\b");
  static const std::regex suffixes("(%struct\\.[a-z0-9_]+)(\\.[0-9]+)+");
  return std::regex_replace(std::regex_replace(type, attributes, ""), suffixes, "$1");
}

std::vector<HarvestRow> harvest() {
  const Bytes bytes = must_read(std::filesystem::path(SMELT_SOURCE_DIR) / "tests/aot/data/air-harvest.tsv");
  std::istringstream lines{std::string(as_text(bytes))};
  std::vector<HarvestRow> rows;
  std::string line;
  std::getline(lines, line);  // the heading
  while (std::getline(lines, line)) {
    const size_t first = line.find('\t');
    const size_t second = line.find('\t', first + 1);
    rows.push_back({line.substr(first + 1, second - first - 1), without_attributes(line.substr(second + 1))});
  }
  return rows;
}

}  // namespace smelt::test
