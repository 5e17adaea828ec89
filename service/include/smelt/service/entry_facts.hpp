// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an entry of the store is, for those who show the store to people.
#pragma once

#include "smelt/cache/store.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace smelt::service {

enum class EntryKind : uint8_t {
  library,  ///< a package: what a request gave, or what was imported
  kernel,   ///< one kernel of a request, kept by itself
  file,     ///< an object or a library of the tools that compile and link apart
  other,    ///< parts of somebody else
};
std::string_view to_string(EntryKind kind);

/// Texts are as they lie in the store: escape them before they go to a terminal.
struct EntryFacts {
  struct Slice {
    std::string target;  ///< "macos14", "cpu-x86-64-v3", of checked code "cpu-x86-64-v3 checked"
    uint64_t bytes = 0;
  };
  EntryKind kind = EntryKind::other;
  std::string name, version;  ///< of its first library; empty where there is none
  std::string source;         ///< names of the files it was made from; empty where nobody noted them
  std::string source_digest;  ///< SHA-256 of that text, in hex; empty for files and others
  std::string compiler;
  std::string origin;                  ///< where it came from: the lines of signing::Provenance
  std::vector<std::string> functions;  ///< of all libraries, in their order
  std::vector<Slice> slices;           ///< of all libraries, in their order
};

/// Nothing is hashed or run, and damage inside a package is not an error: unreadable parts are left out.
EntryFacts entry_facts(const cache::Entry& entry);

}  // namespace smelt::service
