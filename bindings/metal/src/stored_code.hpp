// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the store has of finished code, without a compiler. The keys are this library's own; the version of the compiler
// is in them, so that code of another one is a miss.
#pragma once

#include "smelt/service/stored.hpp"

#include "compiler.hpp"

namespace smelt::metal {

/// Nothing for source that includes files of its own: what is in them is not in the key.
std::optional<Digest> key_of(const SourceRequest& request);
Digest key_of(const KernelRequest& request);

/// The part of an entry that holds a package with a kernel's code, and that with the names of a source's kernels
/// (smelt/base/text_list.hpp).
constexpr std::string_view kStoredPackage = service::kPackagePart;
constexpr std::string_view kStoredNames = "names";

/// Nothing when the store has none or does not open (which is said once).
/// What may not be used by $SMELT_TRUST and the keys trusted now counts as absent.
std::optional<Package> find_stored(const Digest& key, std::string_view part = kStoredPackage);
void keep_in_store(const Digest& key, ByteView bytes, const signing::Provenance& origin,
                   std::string_view part = kStoredPackage);

}  // namespace smelt::metal
