// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Universal files. Reading and writing meet in one rule: the table, then the slices where the table says, zeros
// between.
#include "smelt/metallib/universal.hpp"

#include "smelt/base/sort.hpp"
#include "smelt/metallib/reader.hpp"

#include "blob.hpp"

#include <algorithm>
#include <optional>

namespace smelt::metallib {
namespace {

uint32_t load_be32(const std::byte* at) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | std::to_integer<uint32_t>(at[i]);
  return value;
}

uint32_t load(const std::byte* at, bool big_endian) {
  return big_endian ? load_be32(at) : load_le<uint32_t>(at);
}

struct Kind {
  bool metal = false, big_endian = false;
};

std::optional<Kind> kind_of(ByteView bytes) {
  if (bytes.size() < 4) return std::nullopt;
  const uint32_t big = load_be32(bytes.data());
  if (big == kMachoFatMagic) return Kind{false, true};
  if (big == kMetalFatMagic) return Kind{true, true};
  if (load_le<uint32_t>(bytes.data()) == kMetalFatMagic) return Kind{true, false};
  return std::nullopt;
}

constexpr uint64_t kTableHead = 8;

uint64_t table_end(size_t slices) {
  return kTableHead + kFatEntrySize * slices;
}

/// Slices by offset.
std::vector<const FatSlice*> in_file_order(const Universal& universal) {
  std::vector<const FatSlice*> slices;
  for (const FatSlice& slice : universal.slices) slices.push_back(&slice);
  sort_stably(slices, [](const FatSlice* a, const FatSlice* b) { return a->offset < b->offset; });
  return slices;
}

Result<void> collect(ByteView bytes, uint32_t depth, const std::string& where, const FatSlice& slice,
                     std::vector<Image>& images) {
  if (is_metallib(bytes)) {
    images.push_back({where, slice.cpu, slice.subtype, bytes});
    return {};
  }
  if (!is_universal(bytes)) return {};
  if (depth == kMaxFatDepth)
    return fail(Errc::corrupt, "{}: universal files nested more than {} deep", where, kMaxFatDepth);
  SMELT_TRY(const Universal universal, read_universal(bytes));
  for (size_t i = 0; i < universal.slices.size(); ++i) {
    const FatSlice& inner = universal.slices[i];
    const std::string name = fmt::format("{}{}slice {} (cpu {:#x}, subtype {})", where, where.empty() ? "" : ", ", i,
                                         inner.cpu, inner.subtype);
    SMELT_TRY_VOID(collect(inner.bytes, depth + 1, name, inner, images));
  }
  return {};
}

}  // namespace

bool is_universal(ByteView bytes) {
  return kind_of(bytes).has_value();
}

Result<Universal> read_universal(ByteView bytes) {
  const auto kind = kind_of(bytes);
  if (!kind) return fail(Errc::not_metallib, "not a universal file: it looks like {}", looks_like(bytes));
  if (bytes.size() < kTableHead)
    return fail(Errc::truncated, "universal file: want {} bytes of table, the file has {}", kTableHead, bytes.size());
  const uint32_t count = load(bytes.data() + 4, kind->big_endian);
  if (count > kMaxFatSlices)
    return fail(Errc::corrupt, "universal file: claims {} slices; at most {} are read", count, kMaxFatSlices);
  if (table_end(count) > bytes.size())
    return fail(Errc::truncated, "universal file: {} slices need a table of {} bytes, the file has {}", count,
                table_end(count), bytes.size());

  Universal universal{.metal = kind->metal, .big_endian = kind->big_endian, .slices = {}};
  for (uint32_t i = 0; i < count; ++i) {
    const std::byte* entry = bytes.data() + table_end(i);
    const auto word = [&](size_t index) { return load(entry + 4 * index, kind->big_endian); };
    const uint32_t offset = word(2), size = word(3);
    if (offset < table_end(count) || offset > bytes.size() || size > bytes.size() - offset)
      return fail(offset > bytes.size() || size > bytes.size() - offset ? Errc::truncated : Errc::corrupt,
                  "universal file: slice {} of {} bytes at byte {} is not between the table and the file's end at {}",
                  i, size, offset, bytes.size());
    universal.slices.push_back({word(0), word(1), offset, word(4), bytes.subspan(offset, size)});
  }

  uint64_t end = table_end(count);
  for (const FatSlice* slice : in_file_order(universal)) {
    if (slice->offset < end)
      return fail(Errc::corrupt, "universal file: slice at byte {} overlaps the one that ends at byte {}",
                  slice->offset, end);
    if (!all_zero(bytes.subspan(end, slice->offset - end)))
      return fail(Errc::corrupt, "universal file: {} bytes at byte {} that nothing explains", slice->offset - end, end);
    end = slice->offset + slice->bytes.size();
  }
  if (!all_zero(bytes.subspan(end)))
    return fail(Errc::corrupt, "universal file: {} bytes at byte {}, behind the last slice, that nothing explains",
                bytes.size() - end, end);
  universal.padding_after = bytes.size() - end;
  return universal;
}

Result<Bytes> write_universal(const Universal& universal) {
  ByteWriter out;
  const bool big_endian = universal.big_endian || !universal.metal;
  const auto put = [&](uint32_t value) {
    std::byte bytes[4];
    store_le(bytes, value);
    if (big_endian) std::reverse(bytes, bytes + 4);
    out.put_bytes(bytes);
  };
  put(universal.metal ? kMetalFatMagic : kMachoFatMagic);
  put(static_cast<uint32_t>(universal.slices.size()));
  for (const FatSlice& slice : universal.slices)
    for (const uint32_t word :
         {slice.cpu, slice.subtype, slice.offset, static_cast<uint32_t>(slice.bytes.size()), slice.alignment})
      put(word);
  for (const FatSlice* slice : in_file_order(universal)) {
    if (slice->offset < out.size())
      return fail(Errc::invalid_argument, "universal file: slice at byte {} overlaps what ends at byte {}",
                  slice->offset, out.size());
    while (out.size() < slice->offset) out.put<uint8_t>(0);
    out.put_bytes(slice->bytes);
  }
  for (uint64_t i = 0; i < universal.padding_after; ++i) out.put<uint8_t>(0);
  return out.take();
}

Result<void> place_slices(Universal& universal) {
  uint64_t at = table_end(universal.slices.size());
  for (FatSlice& slice : universal.slices) {
    if (slice.alignment > 20)
      return fail(Errc::invalid_argument, "universal file: alignment 2^{}; want at most 2^20", slice.alignment);
    const uint64_t alignment = uint64_t{1} << slice.alignment;
    at = round_up(at, alignment);
    if (at + slice.bytes.size() > 0xFFFFFFFF)
      return fail(Errc::invalid_argument, "universal file: slices need more than 4 GiB");
    slice.offset = static_cast<uint32_t>(at);
    at += slice.bytes.size();
  }
  universal.padding_after = 0;
  return {};
}

Result<std::vector<Image>> find_images(ByteView bytes) {
  std::vector<Image> images;
  SMELT_TRY_VOID(collect(bytes, 0, "", FatSlice{}, images));
  if (images.empty() && is_universal(bytes))
    return fail(Errc::not_metallib, "universal file: none of its slices is a Metal library");
  if (images.empty())
    return fail(Errc::not_metallib, "not a Metal library: it looks like {}; want a file that starts with '{}'",
                looks_like(bytes), kMagic);
  return images;
}

}  // namespace smelt::metallib
