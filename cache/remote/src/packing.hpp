// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts to a record with blobs, and back. Nothing is believed that does not hash to what the record says. Private to
// remote.
#pragma once

#include "smelt/remote/entry.hpp"

#include <functional>
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

/// The part's bytes from its blob: hashed first, then decompressed into exactly the declared size, and hashed again. It
/// goes piece by piece and calls `may_go_on` before each: a blob of a few kilobytes can unpack to 256 MiB. Errors:
/// `corrupt` says what did not fit; those of `may_go_on`.
Result<Bytes> unpack(const schema::EntryRecord::Part& part, Bytes blob, const std::function<Result<void>()>& may_go_on);

}  // namespace smelt::remote
