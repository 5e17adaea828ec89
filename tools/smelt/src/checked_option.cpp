// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "checked_option.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace smelt::cli {

void add_checked(CLI::App& verb, Checks& checked, const char* help) {
  const auto from_environment = Checks::of_environment();
  if (from_environment)
    checked = *from_environment;
  else  // told by the verbs that would follow it, and by no other
    verb.preparse_callback(
        [message = from_environment.error().message](size_t) { throw CLI::ValidationError(message); });
  const auto words = std::make_shared<std::string>();
  // A flag with a value: a word that follows after a blank is the verb's own.
  verb.add_flag("--checked{all}", *words, help)->each([&checked, words](const std::string& word) {
    const auto parsed = Checks::parse(word);
    if (!parsed) throw CLI::ValidationError("--checked", parsed.error().message);
    checked = *parsed;
  });
}

}  // namespace smelt::cli
