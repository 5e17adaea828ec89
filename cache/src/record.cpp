// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "record.hpp"

#include <xxhash.h>

namespace smelt::cache {
namespace {

constexpr uint32_t kRecordMagic = 0x45524d53;  // "SMRE"
constexpr uint16_t kRecordFormat = 1;

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
  out.put(kRecordMagic);
  out.put(kRecordFormat);
  out.put(static_cast<uint16_t>(record.parts.size()));
  out.put_bytes(key.bytes);
  out.put(record.cost_us);
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
      out.put_text(part.name);
    }
  }
  return out.take();
}

Result<Record> decode_record(ByteView bytes, const Digest& key) {
  Cursor in(bytes, "store record");
  SMELT_TRY(const uint32_t magic, in.read<uint32_t>());
  SMELT_TRY(const uint16_t format, in.read<uint16_t>());
  SMELT_TRY(const uint16_t count, in.read<uint16_t>());
  SMELT_TRY(const ByteView named, in.take(key.bytes.size()));
  if (magic != kRecordMagic || format != kRecordFormat || !std::equal(named.begin(), named.end(), key.bytes.begin()))
    return fail(Errc::corrupt, "store record: not the record of {}", to_hex(key));
  Record record;
  SMELT_TRY(record.cost_us, in.read<uint64_t>());
  record.parts.reserve(std::min<size_t>(count, bytes.size() / 16));
  for (unsigned i = 0; i < count; ++i) {
    RecordPart part;
    SMELT_TRY(const uint16_t name_bytes, in.read<uint16_t>());
    SMELT_TRY(const uint8_t kind, in.read<uint8_t>());
    SMELT_TRY(part.codec, in.read<uint8_t>());
    SMELT_TRY_VOID(in.skip(4));
    part.is_inline = kind == 0;
    if (kind > 1 || part.codec > kCodecZstd) return fail(Errc::corrupt, "store record: part {} is of no known kind", i);
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
      SMELT_TRY(const ByteView name, in.take(name_bytes));
      part.name = as_text(name);
    }
    record.parts.push_back(part);
  }
  if (!in.at_end()) return fail(Errc::corrupt, "store record: {} bytes left over", in.left());
  return record;
}

}  // namespace smelt::cache
