// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/signing/origin.hpp"

#include <algorithm>

namespace smelt::signing {

Provenance Provenance::unknown() {
  Provenance origin;
  origin.unknown_ = true;
  return origin;
}

Provenance Provenance::of_remote(std::string from, std::optional<PublicKey> by, std::string made_from,
                                 std::vector<std::string> signatures) {
  Provenance origin;
  origin.sources_.push_back({false, std::move(from), std::move(by), false});
  origin.made_from_ = std::move(made_from);
  origin.signatures_ = std::move(signatures);
  return origin;
}

Provenance Provenance::of_file(std::optional<PublicKey> by) {
  Provenance origin;
  origin.sources_.push_back({true, {}, std::move(by), false});
  origin.derived_ = true;
  return origin;
}

Provenance Provenance::derived() const {
  Provenance origin = *this;
  origin.derived_ = !sources_.empty();
  origin.made_from_.clear();
  origin.signatures_.clear();
  return origin;
}

Provenance Provenance::remade() const {
  Provenance origin = made_here();
  origin += *this;
  for (Source& source : origin.sources_) source.remade = true;
  const auto last = std::unique(origin.sources_.begin(), origin.sources_.end());
  origin.sources_.erase(last, origin.sources_.end());
  return origin;
}

Provenance& Provenance::operator+=(const Provenance& other) {
  *this = derived();
  unknown_ = unknown_ || other.unknown_;
  for (const Source& source : other.sources_)
    if (std::find(sources_.begin(), sources_.end(), source) == sources_.end()) sources_.push_back(source);
  derived_ = !sources_.empty();
  return *this;
}

std::string Provenance::to_text() const {
  if (sources_.empty()) return unknown_ ? "unknown\n" : "made-here\n";
  std::string text = unknown_ ? "unknown\n" : "";
  if (derived_) text += "derived\n";
  for (const Source& source : sources_) {
    text += source.is_file ? "file\n" : fmt::format("from {}\n", source.from);
    text += fmt::format("by {}\n", source.by ? signing::to_text(*source.by) : "");
    if (source.remade) text += "remade\n";
  }
  if (derived_) return text;
  text += fmt::format("made-from {}\n", made_from_);
  for (const std::string& signature : signatures_) text += fmt::format("signed {}\n", signature);
  return text;
}

Provenance Provenance::parse(std::string_view text) {
  Provenance origin;
  bool made_here = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t space = std::min(line.find(' '), line.size());
    const std::string_view name = line.substr(0, space);
    const std::string value(line.substr(std::min(space + 1, line.size())));
    if (name == "made-here") made_here = true;
    if (name == "unknown") origin.unknown_ = true;
    if (name == "derived") origin.derived_ = true;
    if (name == "made-from") origin.made_from_ = value;
    if (name == "signed") origin.signatures_.push_back(value);
    if (name == "from" || name == "file") origin.sources_.push_back({name == "file", value, {}, false});
    if (origin.sources_.empty()) continue;
    if (name == "remade") origin.sources_.back().remade = true;
    if (name == "by")
      if (auto key = parse_public_key(value)) origin.sources_.back().by = std::move(*key);
  }
  origin.unknown_ = origin.unknown_ || (!made_here && origin.sources_.empty());
  return origin.derived_ || origin.sources_.size() > 1 ? origin.derived() : origin;
}

}  // namespace smelt::signing
