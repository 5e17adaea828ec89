// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes what keys are made of besides a request, for the reader in Python alone (bindings/python/smelt/_pure/keys.py).
// A program of its own, since a module that was built for a sanitizer cannot be imported by any Python.
#include "smelt/aot/fingerprint.hpp"
#include "smelt/base/files.hpp"
#include "smelt/base/text.hpp"

#include <cstdio>

namespace {

std::string json_version(const smelt::Version& version) {
  return fmt::format("[{}, {}, {}]", version.major, version.minor, version.patch);
}

std::string facts() {
  using smelt::json_quoted;
  const smelt::aot::KeyFacts facts = smelt::aot::key_facts();
  std::string names, targets;
  for (const std::string_view name : facts.header_names) names += (names.empty() ? "" : ", ") + json_quoted(name);
  for (const smelt::aot::Target& target : smelt::aot::known_targets())
    targets += fmt::format(
        "{}\n  {{\"name\": {}, \"triple\": {}, \"os\": {}, \"air\": {}, \"metal\": {}, \"container_patch\": {}}}",
        targets.empty() ? "" : ",", json_quoted(target.name), json_quoted(target.triple), json_version(target.os),
        json_version(target.air), json_version(target.language), target.container_patch);
  std::string flags;
#define SMELT_FLAG(member, name, ...) \
  flags += fmt::format("{}[\"" #name "\", \"" #member "\"]", flags.empty() ? "" : ", ");
#include "smelt/aot/options.def"
  return fmt::format(
      "{{\"version\": {}, \"format\": {}, \"compiler\": {}, \"headers\": {},\n \"default_target\": {},\n "
      "\"header_names\": [{}],\n \"targets\": [{}],\n \"flags\": [{}]}}\n",
      json_quoted(SMELT_VERSION), json_quoted(facts.format), json_quoted(facts.compiler), json_quoted(facts.headers),
      json_quoted(smelt::aot::default_target().name), names, targets, flags);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const std::string text = facts();
  const auto written = smelt::write_file(words[1], smelt::as_bytes(text));
  if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return written ? 0 : 1;
}
