// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts to a record with blobs, and back. Nothing is believed that does not hash to what the record says. Private to
// remote.
#pragma once

#include "smelt/remote/entry.hpp"

#include <vector>

namespace smelt::remote {

/// A record and the blobs under cas/ that it names, one per part.
struct Packed {
  schema::EntryRecord record;
  std::vector<Bytes> blobs;
};

/// The record as far as it is signed: without blobs, which a Packed has.
schema::EntryRecord statement_record(const Outgoing& entry);

/// Compresses what shrinks. Deterministic for one version of zstd.
Packed pack(const Outgoing& entry);

/// The part's bytes from its blob: hashed first, then decompressed into exactly the declared size, then hashed again.
/// `corrupt` says which of them did not fit.
Result<Bytes> unpack(const schema::EntryRecord::Part& part, Bytes blob);

}  // namespace smelt::remote
