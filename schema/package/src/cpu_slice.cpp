// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes and reads CPU slices. The header is drawn in cpu_slice.hpp; a row is the fields of CpuKernel, in order:
//
//   u32 count of rows, then per row:
//   u32+text name, u8 range (and 2: it waits), u8 checked, u64 code_offset, u64 code_bytes, u64 entry_offset,
//   32 code_digest, u32 threadgroup_bytes, u32 fixed_bytes, u32 bytes_per_thread, u32 constants_bytes,
//   u32 count of constants, each u32 index, u32 offset, u32 bytes, u32 defined_offset,
//   u32 count of private buffers, each u32 buffer, u8 operation,
//   u32+text method
//
// Offsets of code count from the slice's byte 0. Blobs lie in row order, do not overlap and leave only zero padding.
#include "smelt/schema/cpu_slice.hpp"

#include <algorithm>
#include <cstring>

namespace smelt::schema {
namespace {

constexpr size_t kBlobAlignment = 64;
constexpr size_t kFixedRowBytes = 2 + 24 + 32 + 16;  // between a row's name and its lists
constexpr size_t kMinimalRowBytes = 4 + kFixedRowBytes + 4 + 4 + 4;
constexpr uint32_t kMaximalNameBytes = 1 << 16;
constexpr uint8_t kWaits = 2;  // of a row's range: CpuKernel::waits

void put_text(ByteWriter& out, const std::string& text) {
  out.put<uint32_t>(static_cast<uint32_t>(text.size()));
  out.put_text(text);
}

Result<std::string> read_text(Cursor& in, const char* what) {
  const uint64_t at = in.offset();
  SMELT_TRY(const uint32_t size, in.read<uint32_t>());
  if (size > kMaximalNameBytes)
    return fail(Errc::corrupt, "CPU slice: {} at offset {} claims {} bytes, at most {} make sense", what, at, size,
                kMaximalNameBytes);
  SMELT_TRY(const ByteView bytes, in.take(size));
  return std::string(as_text(bytes));
}

/// A count of items of at least `item_bytes` each: never more than the bytes left can hold.
Result<uint32_t> read_count(Cursor& in, size_t item_bytes, const char* what) {
  const uint64_t at = in.offset();
  SMELT_TRY(const uint32_t count, in.read<uint32_t>());
  if (count > in.left() / item_bytes)
    return fail(Errc::corrupt, "CPU slice: {} {} claimed at offset {}, the {} bytes left cannot hold them", count, what,
                at, in.left());
  return count;
}

void put_row(ByteWriter& out, const CpuKernel& kernel) {
  put_text(out, kernel.name);
  out.put<uint8_t>(static_cast<uint8_t>(static_cast<uint8_t>(kernel.range) | (kernel.waits ? kWaits : 0)));
  out.put<uint8_t>(kernel.checked.bits());
  out.put<uint64_t>(kernel.code_offset);
  out.put<uint64_t>(kernel.code_bytes);
  out.put<uint64_t>(kernel.entry_offset);
  out.put_bytes(kernel.code_digest.bytes);
  out.put<uint32_t>(kernel.threadgroup_bytes);
  out.put<uint32_t>(kernel.fixed_bytes);
  out.put<uint32_t>(kernel.bytes_per_thread);
  out.put<uint32_t>(kernel.constants_bytes);
  out.put<uint32_t>(static_cast<uint32_t>(kernel.constants.size()));
  for (const CpuConstant& constant : kernel.constants) {
    out.put<uint32_t>(constant.index);
    out.put<uint32_t>(constant.offset);
    out.put<uint32_t>(constant.bytes);
    out.put<uint32_t>(constant.defined_offset);
  }
  out.put<uint32_t>(static_cast<uint32_t>(kernel.private_buffers.size()));
  for (const CpuPrivateBuffer& buffer : kernel.private_buffers) {
    out.put<uint32_t>(buffer.buffer);
    out.put<uint8_t>(static_cast<uint8_t>(buffer.operation));
  }
  put_text(out, kernel.method);
}

Bytes encode_rows(const std::vector<CpuKernel>& kernels) {
  ByteWriter out;
  out.put<uint32_t>(static_cast<uint32_t>(kernels.size()));
  for (const CpuKernel& kernel : kernels) put_row(out, kernel);
  return out.take();
}

Result<void> read_constants(Cursor& in, CpuKernel& kernel) {
  SMELT_TRY(const uint32_t count, read_count(in, 16, "function constants"));
  for (uint32_t i = 0; i < count; ++i) {
    CpuConstant constant;
    SMELT_TRY(constant.index, in.read<uint32_t>());
    SMELT_TRY(constant.offset, in.read<uint32_t>());
    SMELT_TRY(constant.bytes, in.read<uint32_t>());
    SMELT_TRY(constant.defined_offset, in.read<uint32_t>());
    if (uint64_t{constant.offset} + constant.bytes > kernel.constants_bytes ||
        constant.defined_offset >= kernel.constants_bytes)
      return fail(Errc::corrupt, "CPU slice: {}: function constant {} lies outside its {} bytes", kernel.name,
                  constant.index, kernel.constants_bytes);
    kernel.constants.push_back(constant);
  }
  return {};
}

Result<void> read_private_buffers(Cursor& in, CpuKernel& kernel) {
  SMELT_TRY(const uint32_t count, read_count(in, 5, "private buffers"));
  for (uint32_t i = 0; i < count; ++i) {
    CpuPrivateBuffer buffer;
    SMELT_TRY(buffer.buffer, in.read<uint32_t>());
    SMELT_TRY(const uint8_t operation, in.read<uint8_t>());
    if (buffer.buffer >= SMELT_CPU_MAX_BUFFERS || operation > static_cast<uint8_t>(CpuPrivateBuffer::kLastOperation))
      return fail(Errc::corrupt, "CPU slice: {}: private buffer {} with operation {}", kernel.name, buffer.buffer,
                  operation);
    buffer.operation = static_cast<CpuPrivateBuffer::Operation>(operation);
    kernel.private_buffers.push_back(buffer);
  }
  return {};
}

/// Where code may lie: [low, high) of the slice.
struct CodeRange {
  uint64_t low = 0;
  uint64_t high = 0;
};

Result<CpuKernel> read_row(Cursor& in, CodeRange code) {
  CpuKernel kernel;
  SMELT_TRY(kernel.name, read_text(in, "a kernel's name"));
  // A library has hundreds of rows, and each load reads them all: what has its place is asked for once.
  SMELT_TRY(const ByteView fixed, in.take(kFixedRowBytes));
  const auto range = load_le<uint8_t>(fixed.data());
  const auto checked = load_le<uint8_t>(fixed.data() + 1);
  if (kernel.name.empty() || range > (static_cast<uint8_t>(CpuRangeKind::groups) | kWaits) ||
      Checks::from_bits(checked).bits() != checked)
    return fail(Errc::corrupt, "CPU slice: kernel '{}' has range kind {} and checked flag {}", kernel.name, range,
                checked);
  kernel.range = static_cast<CpuRangeKind>(range & ~kWaits);
  kernel.waits = (range & kWaits) != 0;
  kernel.checked = Checks::from_bits(checked);
  kernel.code_offset = load_le<uint64_t>(fixed.data() + 2);
  kernel.code_bytes = load_le<uint64_t>(fixed.data() + 10);
  kernel.entry_offset = load_le<uint64_t>(fixed.data() + 18);
  if (kernel.code_offset % kBlobAlignment != 0 || kernel.code_offset < code.low || kernel.code_offset > code.high ||
      kernel.code_bytes > code.high - kernel.code_offset || kernel.entry_offset >= kernel.code_bytes)
    return fail(Errc::corrupt, "CPU slice: {}: code at {} of {} bytes, entry at {}; code lies in {}..{}", kernel.name,
                kernel.code_offset, kernel.code_bytes, kernel.entry_offset, code.low, code.high);
  std::memcpy(kernel.code_digest.bytes.data(), fixed.data() + 26, kernel.code_digest.bytes.size());
  kernel.threadgroup_bytes = load_le<uint32_t>(fixed.data() + 58);
  kernel.fixed_bytes = load_le<uint32_t>(fixed.data() + 62);
  kernel.bytes_per_thread = load_le<uint32_t>(fixed.data() + 66);
  kernel.constants_bytes = load_le<uint32_t>(fixed.data() + 70);
  if (kernel.threadgroup_bytes > kernel.fixed_bytes)
    return fail(Errc::corrupt, "CPU slice: {}: {} bytes of threadgroup memory in {} bytes of scratch", kernel.name,
                kernel.threadgroup_bytes, kernel.fixed_bytes);
  SMELT_TRY_VOID(read_constants(in, kernel));
  SMELT_TRY_VOID(read_private_buffers(in, kernel));
  SMELT_TRY(kernel.method, read_text(in, "a kernel's method"));
  return kernel;
}

Digest header_digest(ByteView header, ByteView rows) {
  Hasher hasher;
  hasher.update(header.first(kCpuSliceHeaderBytes - sizeof(Digest::bytes)));
  hasher.update(rows);
  return hasher.finish();
}

/// Padding is under no digest, so it must be zero: then every bit of a slice is accounted for.
Result<void> check_padding(ByteView bytes, uint64_t low, uint64_t high) {
  // The writer leaves less than this, which one comparison settles.
  static constexpr std::byte kZeros[kBlobAlignment] = {};
  if (high - low < kBlobAlignment && std::memcmp(bytes.data() + low, kZeros, high - low) == 0) return {};
  for (uint64_t at = low; at < high; ++at)
    if (bytes[at] != std::byte{0})
      return fail(Errc::corrupt, "CPU slice: padding at offset {} holds {:#04x}", at, std::to_integer<int>(bytes[at]));
  return {};
}

Result<CpuArch> read_arch(uint32_t arch, uint32_t level) {
  if (const auto known = cpu_level_numbered(arch, level)) return row_of(*known).arch;
  return fail(Errc::corrupt, "CPU slice: architecture {} level {} is none of {}", arch, level, cpu_level_names());
}

}  // namespace

Result<Bytes> write_cpu_slice(CpuSlice slice, const std::vector<Bytes>& code) {
  if (code.size() != slice.kernels.size())
    return fail(Errc::invalid_argument, "CPU slice: {} kernels and {} blobs; give one blob for each kernel",
                slice.kernels.size(), code.size());
  SMELT_TRY_VOID(read_arch(static_cast<uint32_t>(slice.arch), slice.level));

  // Rows have a fixed size once names are known, so they can be measured before the offsets in them are.
  const uint64_t rows_bytes = encode_rows(slice.kernels).size();
  const auto align = [](uint64_t at) { return round_up<uint64_t>(at, kBlobAlignment); };
  const uint64_t code_offset = align(kCpuSliceHeaderBytes + rows_bytes);
  uint64_t end = code_offset;
  for (size_t i = 0; i < code.size(); ++i) {
    CpuKernel& kernel = slice.kernels[i];
    if (kernel.name.empty() || kernel.name.size() > kMaximalNameBytes || kernel.entry_offset >= code[i].size())
      return fail(Errc::invalid_argument, "CPU slice: kernel '{}' with entry {} of {} bytes of code", kernel.name,
                  kernel.entry_offset, code[i].size());
    kernel.code_offset = align(end);
    kernel.code_bytes = code[i].size();
    kernel.code_digest = sha256(code[i]);
    end = kernel.code_offset + kernel.code_bytes;
  }

  const Bytes rows = encode_rows(slice.kernels);
  ByteWriter out;
  out.put<uint32_t>(kCpuSliceMagic);
  uint16_t oldest = kCpuSliceOldest;
  for (const CpuKernel& kernel : slice.kernels) oldest = std::max(oldest, kernel.oldest);
  out.put<uint16_t>(oldest);
  out.put<uint16_t>(oldest);
  out.put<uint32_t>(static_cast<uint32_t>(slice.arch));
  out.put<uint32_t>(slice.level);
  out.put<uint64_t>(end);
  out.put<uint64_t>(kCpuSliceHeaderBytes);
  out.put<uint64_t>(rows.size());
  out.put<uint64_t>(code_offset);
  out.put<uint64_t>(end - code_offset);
  Bytes header(out.view().begin(), out.view().end());
  header.resize(kCpuSliceHeaderBytes);
  out.put_bytes(header_digest(header, rows).bytes);
  out.put_bytes(rows);
  out.pad_to(kBlobAlignment);
  for (const Bytes& blob : code) {
    out.pad_to(kBlobAlignment);
    out.put_bytes(blob);
  }
  return out.take();
}

Result<CpuSlice> read_cpu_slice(ByteView bytes) {
  Cursor in(bytes, "CPU slice");
  SMELT_TRY(const uint32_t magic, in.read<uint32_t>());
  if (magic != kCpuSliceMagic) return fail(Errc::corrupt, "CPU slice: starts with {:08x}, not with 'SMCS'", magic);
  SMELT_TRY(const uint16_t format, in.read<uint16_t>());
  SMELT_TRY(const uint16_t oldest, in.read<uint16_t>());
  if (oldest > kCpuSliceFormat)
    return fail(Errc::format_newer,
                "CPU slice: format {} needs a reader of format {}; this one reads up to {}. Use a newer smelt, or "
                "build the package with an older one",
                format, oldest, kCpuSliceFormat);
  if (format == 0 || oldest == 0 || oldest > format)
    return fail(Errc::corrupt, "CPU slice: format {} and oldest reader {} contradict each other", format, oldest);

  SMELT_TRY(const uint32_t arch, in.read<uint32_t>());
  SMELT_TRY(const uint32_t level, in.read<uint32_t>());
  SMELT_TRY(const uint64_t size, in.read<uint64_t>());
  SMELT_TRY(const uint64_t rows_offset, in.read<uint64_t>());
  SMELT_TRY(const uint64_t rows_bytes, in.read<uint64_t>());
  SMELT_TRY(const uint64_t code_offset, in.read<uint64_t>());
  SMELT_TRY(const uint64_t code_bytes, in.read<uint64_t>());
  SMELT_TRY(const ByteView stored_digest, in.take(sizeof(Digest::bytes)));
  if (bytes.size() < size)
    return fail(Errc::truncated, "CPU slice: the header says {} bytes, there are {}", size, bytes.size());
  if (bytes.size() > size)
    return fail(Errc::corrupt, "CPU slice: the header says {} bytes, there are {}", size, bytes.size());
  if (rows_offset != kCpuSliceHeaderBytes || rows_bytes > size - rows_offset ||
      code_offset < rows_offset + rows_bytes || code_offset > size || code_bytes != size - code_offset)
    return fail(Errc::corrupt, "CPU slice: rows at {} of {} bytes and code at {} of {} bytes do not make {} bytes",
                rows_offset, rows_bytes, code_offset, code_bytes, size);

  const ByteView rows = bytes.subspan(rows_offset, rows_bytes);
  const Digest digest = header_digest(bytes.first(kCpuSliceHeaderBytes), rows);
  if (!std::equal(stored_digest.begin(), stored_digest.end(), digest.bytes.begin()))
    return fail(Errc::digest_mismatch, "CPU slice: header and rows were changed after they were written");
  CpuSlice slice;
  SMELT_TRY(slice.arch, read_arch(arch, level));
  slice.level = level;

  Cursor row_cursor(rows, "CPU slice rows", rows_offset);
  SMELT_TRY(const uint32_t count, read_count(row_cursor, kMinimalRowBytes, "kernels"));
  SMELT_TRY_VOID(check_padding(bytes, rows_offset + rows_bytes, code_offset));
  CodeRange left{code_offset, size};
  slice.kernels.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    SMELT_TRY(CpuKernel kernel, read_row(row_cursor, left));
    kernel.oldest = std::max(oldest, kCpuSliceOldest);
    SMELT_TRY_VOID(check_padding(bytes, left.low, kernel.code_offset));
    left.low = kernel.code_offset + kernel.code_bytes;
    slice.kernels.push_back(std::move(kernel));
  }
  if (!row_cursor.at_end())
    return fail(Errc::corrupt, "CPU slice: {} bytes follow the last of {} rows", row_cursor.left(), count);
  if (left.low != size)
    return fail(Errc::corrupt, "CPU slice: {} bytes follow the last kernel's code", size - left.low);
  return slice;
}

}  // namespace smelt::schema
