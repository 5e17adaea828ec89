// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "usage.hpp"

#include "smelt/base/near_names.hpp"
#include "smelt/base/sizes.hpp"

#include "verbs.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace smelt::cli {
namespace {

/// The verb that the words had come to.
const CLI::App& deepest(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().back();
  return *at;
}

std::string did_you_mean(std::string_view asked, std::span<const std::string_view> known, std::string_view front) {
  const std::vector<std::string_view> near = near_names(asked, known);
  return near.empty() ? std::string() : fmt::format("; did you mean '{}{}'?", front, near.front());
}

std::string unknown_option(const CLI::App& verb, std::string_view word) {
  const std::string_view option = word.substr(0, word.find('='));
  const size_t dashes = std::min(option.find_first_not_of('-'), option.size());
  std::vector<std::string_view> known;
  for (const CLI::Option* each : verb.get_options())
    for (const std::string& name : each->get_lnames()) known.push_back(name);
  return fmt::format("unknown option '{}'{}", option, did_you_mean(option.substr(dashes), known, "--"));
}

std::string unknown_verb(const CLI::App& verb, std::string_view word) {
  std::vector<std::string> names;
  for (const CLI::App* each : verb.get_subcommands({})) names.push_back(each->get_name());
  const std::vector<std::string_view> known(names.begin(), names.end());
  return fmt::format("unknown command '{}'{}", word, did_you_mean(word, known, ""));
}

std::string complaint_of(const CLI::App& verb, const CLI::ParseError& error) {
  const std::vector<std::string> left = verb.remaining();
  const bool has_verbs = !verb.get_subcommands({}).empty();
  for (const std::string& word : left) {
    if (word.size() > 1 && word[0] == '-' && word != "--") return unknown_option(verb, word);
    if (has_verbs) return unknown_verb(verb, word);
  }
  if (has_verbs && verb.get_subcommands().empty()) return "a command is missing";
  return error.what();
}

}  // namespace

void show_example(CLI::App& verb, const std::string& example) {
  verb.footer(fmt::format("Example:\n  {}\n\n{}", example, verb.get_footer()));
}

CLI::Option* take_size(CLI::Option* option) {
  const auto as_number = [](const std::string& text) {
    const auto size = parse_size(text);
    if (!size) throw CLI::ValidationError(size.error().message, CLI::ExitCodes::ValidationError);
    return std::to_string(*size);
  };
  return option->transform(as_number)->type_name("SIZE");
}

std::string usage_complaint(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& verb = deepest(app);
  std::string name;
  for (const CLI::App* at = &verb; at->get_parent() != nullptr; at = at->get_parent())
    name.insert(0, at->get_name() + (name.empty() ? "" : " "));
  return fmt::format("smelt: {}{}{}\nRun 'smelt {}{}--help' for more information.\n", name, name.empty() ? "" : ": ",
                     complaint_of(verb, error), name, name.empty() ? "" : " ");
}

}  // namespace smelt::cli
