// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "record.hpp"

#include <xxhash.h>
#include <zstd.h>

namespace smelt::cache {
namespace {

constexpr uint16_t kFirstFormat = 1, kRecordFormat = 2;
constexpr size_t kFormatAt = 4, kKeyAt = 8, kSizeAt = 48, kSecretAt = 56;

}  // namespace

Checksum checksum(ByteView bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  Checksum sum;
  std::memcpy(sum.data(), canonical.digest, sum.size());
  return sum;
}

Bytes encode_record(const Digest& key, const Record& record) {
  ByteWriter out;
  out.put_text(kRecordMagic);
  out.put(record.format);
  out.put(static_cast<uint16_t>(record.parts.size()));
  out.put_bytes(key.bytes);
  out.put(record.cost_us);
  const bool whole = record.format != kFirstFormat;
  if (whole) {
    out.put(uint64_t{0});
    out.put_bytes(record.secret);
  }
  for (const RecordPart& part : record.parts) {
    out.put(static_cast<uint16_t>(part.name.size()));
    out.put(static_cast<uint8_t>(part.is_inline ? 0 : 1));
    out.put(part.codec);
    out.put(uint32_t{0});
    if (part.is_inline) {
      out.put(static_cast<uint64_t>(part.bytes.size()));
      out.put_text(part.name);
      out.put_bytes(part.bytes);
    } else {
      out.put(part.pack);
      out.put(part.at);
      out.put(part.stored);
      out.put(part.raw);
      out.put_bytes(part.sum);
      if (whole) out.put_bytes(part.sha.bytes);
      out.put_text(part.name);
    }
  }
  Bytes bytes = out.take();
  if (!whole) return bytes;
  store_le<uint64_t>(bytes.data() + kSizeAt, bytes.size() + sizeof(Checksum));
  const Checksum sum = checksum(bytes);
  bytes.insert(bytes.end(), sum.begin(), sum.end());
  return bytes;
}

Result<Record> decode_record(ByteView bytes, const Digest& key) {
  Cursor in(bytes, "store record");
  SMELT_TRY(const ByteView magic, in.take(kRecordMagic.size()));
  SMELT_TRY(const uint16_t format, in.read<uint16_t>());
  SMELT_TRY(const uint16_t count, in.read<uint16_t>());
  SMELT_TRY(const ByteView named, in.take(key.bytes.size()));
  if (as_text(magic) != kRecordMagic || format < kFirstFormat || format > kRecordFormat ||
      !std::equal(named.begin(), named.end(), key.bytes.begin()))
    return fail(Errc::corrupt, "store record: not the record of {}", to_hex(key));
  Record record;
  record.format = format;
  SMELT_TRY(record.cost_us, in.read<uint64_t>());
  const bool whole = format != kFirstFormat;
  if (whole) {
    SMELT_TRY(const uint64_t size, in.read<uint64_t>());
    if (size != bytes.size()) return fail(Errc::corrupt, "store record: {} bytes where {} are", size, bytes.size());
    SMELT_TRY(const ByteView secret, in.take(record.secret.size()));
    std::copy(secret.begin(), secret.end(), record.secret.begin());
  }
  record.parts.reserve(std::min<size_t>(count, bytes.size() / 16));
  for (unsigned i = 0; i < count; ++i) {
    RecordPart part;
    SMELT_TRY(const uint16_t name_bytes, in.read<uint16_t>());
    SMELT_TRY(const uint8_t kind, in.read<uint8_t>());
    SMELT_TRY(part.codec, in.read<uint8_t>());
    SMELT_TRY_VOID(in.skip(4));
    part.is_inline = kind == 0;
    if (kind > 1 || part.codec > kCodecZstd)
      return fail(Errc::corrupt, "store record: part {} is of an unknown kind", i);
    if (part.is_inline) {
      SMELT_TRY(const uint64_t length, in.read<uint64_t>());
      SMELT_TRY(const ByteView name, in.take(name_bytes));
      part.name = as_text(name);
      SMELT_TRY(part.bytes, in.take(length));
    } else {
      SMELT_TRY(part.pack, in.read<uint64_t>());
      SMELT_TRY(part.at, in.read<uint64_t>());
      SMELT_TRY(part.stored, in.read<uint64_t>());
      SMELT_TRY(part.raw, in.read<uint64_t>());
      SMELT_TRY(const ByteView sum, in.take(part.sum.size()));
      std::copy(sum.begin(), sum.end(), part.sum.begin());
      if (whole) {
        SMELT_TRY(const ByteView sha, in.take(part.sha.bytes.size()));
        std::copy(sha.begin(), sha.end(), part.sha.bytes.begin());
      }
      SMELT_TRY(const ByteView name, in.take(name_bytes));
      part.name = as_text(name);
    }
    record.parts.push_back(part);
  }
  if (whole) SMELT_TRY_VOID(in.skip(sizeof(Checksum)));  // whoever reads it has compared the row's, which is of all
  if (!in.at_end()) return fail(Errc::corrupt, "store record: {} bytes left over", in.left());
  return record;
}

std::optional<Digest> sha_of_stored(ByteView stored, uint8_t codec, uint64_t raw) {
  if (codec == kCodecRaw) return stored.size() == raw ? std::optional(sha256(stored)) : std::nullopt;
  // Asked before memory is: a number that is damaged may be any.
  if (codec != kCodecZstd || ZSTD_getFrameContentSize(stored.data(), stored.size()) != raw) return std::nullopt;
  Bytes plain(raw);
  if (ZSTD_decompress(plain.data(), plain.size(), stored.data(), stored.size()) != raw) return std::nullopt;
  return sha256(plain);
}

uint64_t record_size(ByteView head, const RecordSecret& secret) {
  if (head.size() < kRecordHead || as_text(head.first(kRecordMagic.size())) != kRecordMagic ||
      load_le<uint16_t>(head.data() + kFormatAt) != kRecordFormat ||
      !std::equal(secret.begin(), secret.end(), head.begin() + kSecretAt))
    return 0;
  const auto size = load_le<uint64_t>(head.data() + kSizeAt);
  return size < kRecordHead + sizeof(Checksum) ? 0 : size;
}

std::optional<Digest> whole_record(ByteView bytes) {
  const ByteView said = bytes.last(sizeof(Checksum));
  const Checksum sum = checksum(bytes.first(bytes.size() - sizeof(Checksum)));
  if (!std::equal(sum.begin(), sum.end(), said.begin())) return std::nullopt;
  Digest key;
  std::copy_n(bytes.begin() + kKeyAt, key.bytes.size(), key.bytes.begin());
  return key;
}

}  // namespace smelt::cache
