// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt pack: libraries of several packages in one. Two libraries of one name are one library only if they say so in
// every respect but their slices.
#include "smelt/schema/package.hpp"

#include <algorithm>

namespace smelt::schema {
namespace {

tl::unexpected<Error> conflict(const Library& library, std::string_view difference, std::string_view cure) {
  return fail(Errc::invalid_argument, "packing: library '{}' comes twice, {}. {}", library.name, difference, cure);
}

Result<void> merge_slices(Library& into, Library&& from) {
  for (Slice& slice : from.slices) {
    const auto same = std::find_if(into.slices.begin(), into.slices.end(), [&](const Slice& other) {
      return other.target == slice.target && other.checked == slice.checked;
    });
    if (same == into.slices.end())
      into.slices.push_back(std::move(slice));
    else if (same->bytes != slice.bytes || same->functions != slice.functions)
      return conflict(into, fmt::format("with different slices for {}", slice.target),
                      "Leave one out, or build both with the same options");
  }
  for (Attachment& attachment : from.attachments) {
    const auto same = std::find_if(into.attachments.begin(), into.attachments.end(),
                                   [&](const Attachment& other) { return other.name == attachment.name; });
    if (same == into.attachments.end())
      into.attachments.push_back(std::move(attachment));
    else if (same->bytes != attachment.bytes)
      return conflict(into, fmt::format("with different attachments '{}'", attachment.name), "Leave one out");
  }
  for (std::string& tag : from.tags)
    if (std::find(into.tags.begin(), into.tags.end(), tag) == into.tags.end()) into.tags.push_back(std::move(tag));
  return {};
}

Result<void> merge_library(Library& into, Library&& from) {
  const std::string_view cure = "Rename one when compiling it, or build both alike";
  if (into.source != from.source)
    return conflict(into, fmt::format("from two sources, {} and {}", to_hex(into.source), to_hex(from.source)), cure);
  if (into.compiler != from.compiler)
    return conflict(into, fmt::format("from two compilers, '{}' and '{}'", into.compiler, from.compiler), cure);
  if (into.version != from.version)
    return conflict(into, fmt::format("as version '{}' and '{}'", into.version, from.version), cure);
  if (into.functions != from.functions)
    return conflict(
        into, fmt::format("with {} and {} functions that differ", into.functions.size(), from.functions.size()), cure);
  return merge_slices(into, std::move(from));
}

}  // namespace

Result<Library> Package::copy_library(uint32_t index) const {
  const LibraryView view = library(index);
  Library copy;
  copy.name = view.name;
  copy.compiler = view.compiler;
  copy.version = view.version;
  copy.source = view.source;
  for (uint32_t i = 0; i < view.tags.count; ++i) copy.tags.emplace_back(tag(view.tags.first + i));
  for (uint32_t i = 0; i < view.functions.count; ++i) {
    const FunctionView from = function(view.functions.first + i);
    Function& to = copy.functions.emplace_back();
    to.name = from.name;
    to.kind = from.kind;
    to.max_threads = from.max_threads;
    to.grid_rank = from.grid_rank;
    to.threadgroup_bytes = from.threadgroup_bytes;
    std::copy(std::begin(from.required_group), std::end(from.required_group), to.required_group);
    for (uint32_t k = 0; k < from.arguments.count; ++k) {
      const ArgumentView a = argument(from.arguments.first + k);
      to.arguments.push_back({std::string(a.name), std::string(a.type_name), a.index, a.location, a.kind, a.access,
                              a.address_space, a.unused, a.conditional, a.array_size, a.size, a.align});
      for (const MemberView& m : a.members)
        to.arguments.back().members.push_back(
            {std::string(m.name), std::string(m.type_name), m.id, m.count, m.offset, m.size, m.kind, m.access});
    }
    for (uint32_t k = 0; k < from.constants.count; ++k) {
      const ConstantView c = constant(from.constants.first + k);
      to.constants.push_back({std::string(c.name), std::string(c.type_name), c.index, c.required});
    }
  }
  for (uint32_t i = 0; i < view.slices.count; ++i) {
    const SliceView from = slice(view.slices.first + i);
    SMELT_TRY_VOID(check_part(from.part, fmt::format("{}/{}", view.name, from.target)));
    Slice& to = copy.slices.emplace_back();
    static_cast<BasicSlice<std::string>&>(to) = {std::string(from.target),
                                                 from.kind,
                                                 from.platform,
                                                 from.os,
                                                 from.metal,
                                                 from.air,
                                                 from.family,
                                                 from.arch,
                                                 from.level,
                                                 from.checked};
    to.bytes = to_bytes(from.part.bytes);
    for (uint32_t k = 0; k < view.functions.count; ++k) {
      const PresenceView p = presence(from.first_presence + k);
      to.functions.push_back({p.missing, std::string(p.reason), p.metal, p.air});
    }
  }
  for (uint32_t i = 0; i < view.attachments.count; ++i) {
    const AttachmentView from = attachment(view.attachments.first + i);
    SMELT_TRY_VOID(check_part(from.part, fmt::format("{}/{}", view.name, from.name)));
    copy.attachments.push_back({std::string(from.name), to_bytes(from.part.bytes)});
  }
  return copy;
}

Result<std::vector<Library>> merge_packages(std::span<const Package> packages) {
  std::vector<Library> merged;
  for (const Package& package : packages) {
    for (uint32_t i = 0; i < package.library_count(); ++i) {
      SMELT_TRY(Library library, package.copy_library(i));
      const auto same =
          std::find_if(merged.begin(), merged.end(), [&](const Library& other) { return other.name == library.name; });
      if (same == merged.end())
        merged.push_back(std::move(library));
      else
        SMELT_TRY_VOID(merge_library(*same, std::move(library)));
    }
  }
  return merged;
}

}  // namespace smelt::schema
