// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/trust/origin.hpp"

namespace smelt::trust {

std::string to_text(const Provenance& origin) {
  std::string text = fmt::format("from {}\nby {}\nmade-from {}\n", origin.from, origin.by, origin.made_from);
  for (const std::string& signature : origin.signatures) text += fmt::format("signed {}\n", signature);
  return text;
}

Provenance parse_provenance(std::string_view text) {
  Provenance origin;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t space = std::min(line.find(' '), line.size());
    const std::string_view name = line.substr(0, space);
    const std::string value(line.substr(std::min(space + 1, line.size())));
    if (name == "from") origin.from = value;
    if (name == "by") origin.by = value;
    if (name == "made-from") origin.made_from = value;
    if (name == "signed") origin.signatures.push_back(value);
  }
  return origin;
}

Result<void> check_provenance(ByteView part, const Policy& policy) {
  const Provenance origin = parse_provenance(as_text(part));
  const auto by = parse_public_key(origin.by);
  if (policy.allows(Origin::remote, by && policy.has(*by))) return {};
  return fail(Errc::untrusted, "it came from {}: {}", origin.from, policy.explain(origin.signatures));
}

}  // namespace smelt::trust
