// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/metallib/library.hpp"

#include <algorithm>

namespace smelt::metallib {

std::string_view to_string(Section section) {
  switch (section) {
    case Section::functions:
      return "function list";
    case Section::public_metadata:
      return "public metadata";
    case Section::private_metadata:
      return "private metadata";
    case Section::bitcode:
      return "bitcode";
    case Section::sources:
      return "sources";
    case Section::dynamic_header:
      return "dynamic header";
    case Section::variables:
      return "variable list";
    case Section::imports:
      return "imported symbols";
    case Section::reflection:
      return "reflection list";
    case Section::scripts:
      return "script list";
  }
  return "unknown section";
}

ByteView Library::keep(Bytes bytes) {
  auto owner = std::make_shared<const Bytes>(std::move(bytes));
  const ByteView view = *owner;
  owners.push_back(std::move(owner));
  return view;
}

const Function* Library::find(std::string_view name) const {
  const auto found =
      std::find_if(functions.begin(), functions.end(), [&](const Function& f) { return f.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

std::optional<ByteView> Library::uuid() const {
  if (!extension) return std::nullopt;
  const Tag* found = find_tag(*extension, tag::uuid);
  if (!found) return std::nullopt;
  return found->payload;
}

bool Library::has(Section section) const {
  switch (section) {
    case Section::functions:
    case Section::public_metadata:
    case Section::private_metadata:
    case Section::bitcode:
      return true;
    case Section::sources:
      return sources.has_value();
    case Section::dynamic_header:
      return dynamic_header.has_value();
    case Section::variables:
      return variables.has_value();
    case Section::imports:
      return imports.has_value();
    case Section::reflection:
      return reflection.has_value();
    case Section::scripts:
      return scripts.has_value();
  }
  return false;
}

std::vector<Place> Library::standard_order() const {
  std::vector<Place> places;
  for (size_t i = 0; i < kSectionCount; ++i)
    if (const auto section = static_cast<Section>(i); has(section)) places.push_back({section, 0});
  return places;
}

const Tag* find_tag(const std::vector<Tag>& tags, Fourcc name) {
  const auto found = std::find_if(tags.begin(), tags.end(), [&](const Tag& tag) { return tag.name == name; });
  return found == tags.end() ? nullptr : &*found;
}

std::optional<Section> section_of(Fourcc extension_tag) {
  if (extension_tag == tag::sources || extension_tag == tag::sources_with_directory) return Section::sources;
  if (extension_tag == tag::dynamic_header) return Section::dynamic_header;
  if (extension_tag == tag::variables) return Section::variables;
  if (extension_tag == tag::imports) return Section::imports;
  if (extension_tag == tag::reflection) return Section::reflection;
  if (extension_tag == tag::scripts) return Section::scripts;
  return std::nullopt;
}

}  // namespace smelt::metallib
