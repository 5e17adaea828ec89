// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/foreign_text.hpp"

#include "smelt/base/text.hpp"

namespace smelt {

std::string one_line(std::string_view text, size_t most) {
  std::string line = printable(text.substr(0, most));
  for (char& c : line)
    if (c == '\n' || c == '\t') c = ' ';
  return text.size() > most ? line + "..." : line;
}

}  // namespace smelt
