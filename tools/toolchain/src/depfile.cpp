// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "depfile.hpp"

#include "smelt/base/text.hpp"

namespace smelt::toolchain {

std::string to_text(const Rule& rule) {
  std::string text;
  for (const std::string& target : rule.targets) text += (text.empty() ? "" : " ") + target;
  text += ":";
  for (const std::string& file : rule.dependencies) text += " \\\n  " + quoted_for_make(file);
  text += "\n";
  if (rule.phony)
    for (size_t i = 1; i < rule.dependencies.size(); ++i) text += quoted_for_make(rule.dependencies[i]) + ":\n";
  return text;
}

}  // namespace smelt::toolchain
