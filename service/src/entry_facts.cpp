// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/service/entry_facts.hpp"

#include "smelt/schema/package.hpp"
#include "smelt/service/stored.hpp"

#include "entry_parts.hpp"

namespace smelt::service {
namespace {

void add_library(EntryFacts& facts, const schema::Package& package, const schema::LibraryView& library) {
  for (uint32_t i = 0; i < library.functions.count; ++i)
    facts.functions.emplace_back(package.function(library.functions.first + i).name);
  for (uint32_t i = 0; i < library.slices.count; ++i) {
    const schema::SliceView slice = package.slice(library.slices.first + i);
    facts.slices.push_back({std::string(slice.target) + (slice.checked ? " checked" : ""), slice.part.bytes.size()});
  }
}

void add_package(EntryFacts& facts, ByteView bytes) {
  const auto package = schema::Package::open(bytes);
  if (!package || package->library_count() == 0) return;
  const schema::LibraryView first = package->library(0);
  facts.name = first.name;
  facts.version = first.version;
  facts.compiler = first.compiler;
  if (first.source != Digest()) facts.source_digest = to_hex(first.source);
  for (uint32_t i = 0; i < package->library_count(); ++i) add_library(facts, *package, package->library(i));
}

}  // namespace

std::string_view to_string(EntryKind kind) {
  switch (kind) {
    case EntryKind::library:
      return "library";
    case EntryKind::kernel:
      return "kernel";
    case EntryKind::file:
      return "file";
    case EntryKind::other:
      break;
  }
  return "other";
}

EntryFacts entry_facts(const cache::Entry& entry) {
  EntryFacts facts;
  facts.origin = entry.origin().to_text();
  facts.source = as_text(entry.part(signing::kSourcePart).value_or(ByteView()));
  for (const auto& [part, kind] :
       {std::pair(kPackagePart, EntryKind::library), std::pair(kKernelPart, EntryKind::kernel)})
    if (const auto package = entry.part(part)) {
      facts.kind = kind;
      add_package(facts, *package);
      return facts;
    }
  if (entry.part(kFilePart)) facts.kind = EntryKind::file;
  return facts;
}

}  // namespace smelt::service
