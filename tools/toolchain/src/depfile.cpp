// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "depfile.hpp"

#include "smelt/base/make_rule.hpp"

namespace smelt::toolchain {

Result<std::string> to_text(const Rule& rule) {
  std::string text, phony;
  for (const std::string& target : rule.targets) text += (text.empty() ? "" : " ") + target;
  text += ":";
  for (const std::string& file : rule.dependencies) {
    SMELT_TRY(const std::string quoted, path_for_make(file));
    text += " \\\n  " + quoted;
    if (rule.phony && &file != rule.dependencies.data()) phony += quoted + ":\n";
  }
  return text + "\n" + phony;
}

}  // namespace smelt::toolchain
