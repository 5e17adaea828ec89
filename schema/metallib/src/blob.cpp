// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "blob.hpp"

#include "smelt/metallib/library.hpp"
#include "smelt/metallib/writer.hpp"

#include <algorithm>

namespace smelt::metallib {
namespace {

struct Stretch {
  uint64_t offset = 0, size = 0;
};

/// Where the bitcode is inside the blob. Raw bitcode without wrapper is read, never written.
Result<Stretch> find_bitcode(ByteView blob, uint64_t at) {
  if (blob.size() < 4) return fail(Errc::corrupt, "module at byte {}: {} bytes hold no bitcode", at, blob.size());
  const uint32_t magic = load_le<uint32_t>(blob.data());
  if (magic == kBitcodeMagic) return Stretch{0, blob.size()};
  if (magic != kWrapperMagic)
    return fail(Errc::corrupt, "module at byte {}: starts with {:#010x}; want LLVM bitcode or its wrapper", at, magic);
  if (blob.size() < sizeof(BitcodeWrapper))
    return fail(Errc::corrupt, "module at byte {}: wrapper needs {} bytes, the blob has {}", at, sizeof(BitcodeWrapper),
                blob.size());
  BitcodeWrapper wrapper;
  std::memcpy(&wrapper, blob.data(), sizeof wrapper);
  const uint64_t offset = wrapper.offset, size = wrapper.size;
  if (offset < sizeof(BitcodeWrapper) || offset > blob.size() || size > blob.size() - offset)
    return fail(Errc::corrupt, "module at byte {}: wrapper says {} bytes at {}, the blob has {}", at, size, offset,
                blob.size());
  return Stretch{offset, size};
}

}  // namespace

bool all_zero(ByteView bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

Result<void> check_blob(ByteView blob, uint64_t at) {
  SMELT_TRY(const Stretch stretch, find_bitcode(blob, at));
  const bool wrapped = stretch.offset != 0;
  if (wrapped && (!all_zero(blob.subspan(sizeof(BitcodeWrapper), stretch.offset - sizeof(BitcodeWrapper))) ||
                  !all_zero(blob.subspan(stretch.offset + stretch.size))))
    return fail(Errc::corrupt, "module at byte {}: bytes around its bitcode that nothing explains; want zeros", at);

  // A top-level block is an ENTER_SUBBLOCK abbreviation (2 bits, 1), block id (vbr8), abbreviation width (vbr4), zeros
  // up to the word's end, then its length in words.
  const uint64_t origin = at + stretch.offset;
  Cursor cursor(blob.subspan(stretch.offset, stretch.size), "bitcode", origin);
  SMELT_TRY(const uint32_t magic, cursor.read<uint32_t>());
  if (magic != kBitcodeMagic)
    return fail(Errc::corrupt, "bitcode at byte {}: starts with {:#010x}; want 'BC' C0 DE", origin, magic);
  while (!cursor.at_end()) {
    if (!wrapped && all_zero(cursor.rest())) return {};
    const uint64_t block_at = cursor.offset();
    SMELT_TRY(const uint32_t head, cursor.read<uint32_t>());
    if ((head & 3) != 1 || (head & (1u << 9)) != 0 || (head & (1u << 13)) != 0 || (head >> 14) != 0)
      return fail(Errc::corrupt, "bitcode at byte {}: want a block at byte {}, found {:#010x}", origin, block_at, head);
    SMELT_TRY(const uint32_t words, cursor.read<uint32_t>());
    if (uint64_t{words} * 4 > cursor.left())
      return fail(Errc::corrupt, "bitcode at byte {}: block at byte {} claims {} bytes, {} are left", origin, block_at,
                  uint64_t{words} * 4, cursor.left());
    SMELT_TRY_VOID(cursor.skip(uint64_t{words} * 4));
  }
  return {};
}

ByteView Module::bitcode() const {
  const auto stretch = find_bitcode(blob, 0);
  return stretch ? blob.subspan(stretch->offset, stretch->size) : ByteView{};
}

Bytes wrap_bitcode(ByteView bitcode) {
  ByteWriter out;
  out.put<uint32_t>(kWrapperMagic);
  out.put<uint32_t>(0);
  out.put<uint32_t>(sizeof(BitcodeWrapper));
  out.put<uint32_t>(static_cast<uint32_t>(bitcode.size()));
  out.put<uint32_t>(kWrapperCpu);
  out.put_bytes(bitcode);
  out.pad_to(kBlobAlignment);
  return out.take();
}

}  // namespace smelt::metallib
