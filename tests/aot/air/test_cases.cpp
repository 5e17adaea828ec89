// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cases of tests/aot/air/cases, one file a pass: each module legalises, or fails, as its comments say.
#include "smelt/aot/target.hpp"

#include "air_tools.hpp"
#include "case_file.hpp"
#include "interface/entry.hpp"

#include "llvm/IR/Module.h"

#include <doctest/doctest.h>

#include <set>

using namespace smelt;
using namespace smelt::test;

namespace {

std::string result_text(const std::vector<aot::air::AirModule>& modules) {
  std::string text;
  for (const auto& unit : modules) {
    text += to_text(*unit.module);
    for (const std::string& warning : unit.warnings) text += "warning: " + warning + "\n";
  }
  return text;
}

/// What is wrong with the outcome; empty when it is as the case says.
std::string problem(const Case& one, const std::string& target) {
  const auto result = aot::air::legalise(parse_ir(one.ir), aot::parse_target(target).value(), one.options);
  if (!one.errors.empty()) {
    if (result) return "no error, but one was expected: " + one.errors.front();
    for (const std::string& part : one.errors)
      if (!contains(result.error().message, part)) return "the message lacks '" + part + "': " + result.error().message;
    return {};
  }
  if (!result) return result.error().message;
  for (const auto& unit : *result)
    if (const auto entries = aot::air::entry_points(*unit.module); entries.size() != 1)
      return fmt::format("the module of '{}' has {} entry points", unit.function, entries.size());
  const std::string text = result_text(*result);
  size_t at = 0;
  for (const std::string& part : one.expected) {
    const size_t found = text.find(part, at);
    if (found == std::string::npos) return "not there, or not in this order: " + part + "\n" + text;
    at = found + part.size();
  }
  for (const std::string& part : one.forbidden)
    if (contains(text, part)) return "should not be there: " + part + "\n" + text;
  return {};
}

}  // namespace

TEST_CASE("the cases, each for its targets") {
  const std::vector<Case> cases = read_cases();
  CHECK(cases.size() > 50);
  for (const Case& one : cases)
    for (const std::string& target : one.targets) {
      const std::string wrong = problem(one, target);
      if (!wrong.empty()) FAIL_CHECK(one.file, ", ", one.name, ", ", target, ": ", wrong);
    }
}

TEST_CASE("every pass has a file of cases of its name") {
  std::set<std::string> files;
  for (const Case& one : read_cases()) files.insert(one.file);
  for (const std::string_view pass : aot::air::pass_names()) {
    CAPTURE(std::string(pass));
    CHECK(files.count(std::string(pass) + ".ll") == 1);
  }
}
