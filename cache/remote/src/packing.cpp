// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "packing.hpp"

#include <zstd.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace smelt::remote {
namespace {

constexpr int kLevel = 3;  // docs/design/store.md, zstd: higher levels gain 1 to 3 %
constexpr size_t kPiece = size_t{1} << 20;
constexpr size_t kSmallest = 256;  // below, a frame's own header eats what it saves

std::optional<Bytes> compressed(const Bytes& bytes) {
  if (bytes.size() < kSmallest) return std::nullopt;
  Bytes packed(ZSTD_compressBound(bytes.size()));
  const size_t size = ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(size) != 0 || size > bytes.size() - bytes.size() / 16) return std::nullopt;
  packed.resize(size);
  return packed;
}

}  // namespace

schema::EntryRecord statement_record(const Outgoing& entry) {
  schema::EntryRecord record;
  record.key = entry.key;
  record.made_from = entry.made_from;
  record.cost_us = static_cast<uint64_t>(entry.cost.count());
  record.signatures = entry.signatures;
  for (const Part& part : entry.parts) {
    schema::EntryRecord::Part& row = record.parts.emplace_back();
    row.name = part.name;
    row.bytes = part.bytes.size();
    row.digest = sha256(part.bytes);
  }
  std::sort(record.parts.begin(), record.parts.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return record;
}

Packed pack(const Outgoing& entry) {
  Packed packed{statement_record(entry), {}};
  for (schema::EntryRecord::Part& row : packed.record.parts) {
    const auto part =
        std::find_if(entry.parts.begin(), entry.parts.end(), [&](const Part& one) { return one.name == row.name; });
    if (auto smaller = compressed(part->bytes)) {
      row.codec = schema::Codec::zstd;
      row.blob = sha256(*smaller);
      packed.blobs.push_back(std::move(*smaller));
    } else {
      row.blob = row.digest;
      packed.blobs.push_back(part->bytes);
    }
    row.blob_bytes = packed.blobs.back().size();
  }
  return packed;
}

Result<Bytes> unpack(const schema::EntryRecord::Part& part, Bytes blob,
                     const std::function<Result<void>()>& may_go_on) {
  const auto damaged = [&](std::string_view how) {
    return fail(Errc::corrupt, "part '{}': cas/{} {}", part.name, to_hex(part.blob), how);
  };
  Hasher of_blob;
  for (ByteView rest = blob; !rest.empty(); rest = rest.subspan(std::min(rest.size(), kPiece))) {
    SMELT_TRY_VOID(may_go_on());
    of_blob.update(rest.first(std::min(rest.size(), kPiece)));
  }
  if (blob.size() != part.blob_bytes || of_blob.finish() != part.blob) return damaged("does not hash to its name");
  if (part.codec == schema::Codec::none) return blob;
  // The frame must announce the very size that the record does, before a byte is set aside for it.
  if (ZSTD_getFrameContentSize(blob.data(), blob.size()) != part.bytes)
    return damaged("announces another size than the record");
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  Bytes bytes, piece(kPiece);
  bytes.reserve(part.bytes);  // pages that nothing is written to take no memory
  Hasher hasher;
  ZSTD_inBuffer in{blob.data(), blob.size(), 0};
  for (size_t left = 1; left != 0;) {
    SMELT_TRY_VOID(may_go_on());
    ZSTD_outBuffer out{piece.data(), piece.size(), 0};
    left = ZSTD_decompressStream(stream.get(), &out, &in);
    const bool stuck = left != 0 && out.pos == 0 && in.pos == in.size;
    if (ZSTD_isError(left) != 0 || stuck || out.pos > part.bytes - bytes.size())
      return damaged("does not unpack to the size in the record");
    const ByteView got = ByteView(piece).first(out.pos);
    hasher.update(got);
    bytes.insert(bytes.end(), got.begin(), got.end());
  }
  if (in.pos != in.size || bytes.size() != part.bytes) return damaged("does not unpack to the size in the record");
  if (hasher.finish() != part.digest) return damaged("unpacks to other bytes than the record says");
  return bytes;
}

}  // namespace smelt::remote
