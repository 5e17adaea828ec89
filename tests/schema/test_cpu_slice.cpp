// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CPU slices: what is written is read back; nothing damaged is.
#include "smelt/schema/cpu_slice.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace smelt::schema {
namespace {

Bytes code_of(size_t size, uint8_t seed) {
  Bytes code(size);
  for (size_t i = 0; i < size; ++i) code[i] = static_cast<std::byte>(seed + 3 * i);
  return code;
}

CpuSlice two_kernels() {
  CpuSlice slice{CpuArch::x86_64, 4, {}};
  CpuKernel add;
  add.name = "vadd";
  add.entry_offset = 16;
  add.constants_bytes = 12;
  add.constants = {{0, 0, 4, 8}, {2, 4, 4, 9}};
  add.method = "loop";
  CpuKernel histogram;
  histogram.name = "histogram";
  histogram.range = CpuRangeKind::groups;
  histogram.waits = true;
  histogram.checked = true;
  histogram.threadgroup_bytes = 256;
  histogram.fixed_bytes = 320;
  histogram.bytes_per_thread = 12;
  histogram.private_buffers = {{1, CpuPrivateBuffer::Operation::max_u32}};
  histogram.method = "lanes";
  slice.kernels = {add, histogram};
  return slice;
}

const std::vector<Bytes> kCode = {code_of(100, 1), code_of(64, 2)};

TEST_CASE("a slice is read back as it was written") {
  const Bytes bytes = write_cpu_slice(two_kernels(), kCode).value();
  CHECK(bytes == write_cpu_slice(two_kernels(), kCode).value());
  const CpuSlice slice = read_cpu_slice(bytes).value();
  CHECK(slice.arch == CpuArch::x86_64);
  CHECK(slice.level == 4);
  REQUIRE(slice.kernels.size() == 2);
  for (size_t i = 0; i < 2; ++i) {
    const CpuKernel& kernel = slice.kernels[i];
    CHECK(kernel.code_offset % 64 == 0);
    const Bytes code(bytes.begin() + kernel.code_offset, bytes.begin() + kernel.code_offset + kernel.code_bytes);
    CHECK(code == kCode[i]);
    CHECK(kernel.code_digest == sha256(kCode[i]));
  }
  const CpuKernel& add = slice.kernels[0];
  CHECK(add.name == "vadd");
  CHECK(add.range == CpuRangeKind::threads);
  CHECK_FALSE(add.waits);
  CHECK_FALSE(add.checked);
  CHECK(add.entry_offset == 16);
  REQUIRE(add.constants.size() == 2);
  CHECK(add.constants[1].index == 2);
  CHECK(add.constants[1].offset == 4);
  CHECK(add.constants[1].defined_offset == 9);
  CHECK(add.method == "loop");
  const CpuKernel& histogram = slice.kernels[1];
  CHECK(histogram.range == CpuRangeKind::groups);
  CHECK(histogram.waits);
  CHECK(histogram.checked);
  CHECK(histogram.threadgroup_bytes == 256);
  CHECK(histogram.fixed_bytes == 320);
  CHECK(histogram.bytes_per_thread == 12);
  REQUIRE(histogram.private_buffers.size() == 1);
  CHECK(histogram.private_buffers[0].operation == CpuPrivateBuffer::Operation::max_u32);
}

TEST_CASE("a slice without kernels is a slice") {
  const Bytes bytes = write_cpu_slice(CpuSlice{CpuArch::aarch64, 0, {}}, {}).value();
  CHECK(read_cpu_slice(bytes).value().kernels.empty());
}

TEST_CASE("no prefix of a slice is read, nor a longer one") {
  const Bytes whole = write_cpu_slice(two_kernels(), kCode).value();
  for (size_t n = 0; n < whole.size(); ++n)
    CHECK_FALSE(read_cpu_slice(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(n))).has_value());
  Bytes longer = whole;
  longer.push_back(std::byte{0});
  CHECK_FALSE(read_cpu_slice(longer).has_value());
}

TEST_CASE("one flipped bit is noticed by the reader or by the kernel's digest") {
  const Bytes whole = write_cpu_slice(two_kernels(), kCode).value();
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    Bytes bytes = whole;
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const Result<CpuSlice> slice = read_cpu_slice(bytes);
    if (!slice) continue;
    bool noticed = false;
    for (const CpuKernel& kernel : slice->kernels)
      noticed |= sha256(ByteView(bytes).subspan(kernel.code_offset, kernel.code_bytes)) != kernel.code_digest;
    CHECK_MESSAGE(noticed, "bit ", bit);
  }
}

TEST_CASE("a newer format is newer, not corrupt") {
  Bytes bytes = write_cpu_slice(two_kernels(), kCode).value();
  const uint16_t newer = kCpuSliceFormat + 1;
  store_le<uint16_t>(&bytes[4], newer + 1);
  store_le<uint16_t>(&bytes[6], newer);
  const Result<CpuSlice> slice = read_cpu_slice(bytes);
  REQUIRE_FALSE(slice.has_value());
  CHECK(slice.error().code == Errc::format_newer);
  CHECK(slice.error().message.find(std::to_string(newer)) != std::string::npos);
}

TEST_CASE("the writer refuses what the reader would") {
  CHECK_FALSE(write_cpu_slice(two_kernels(), {kCode[0]}).has_value());
  CpuSlice late_entry = two_kernels();
  late_entry.kernels[1].entry_offset = 64;
  CHECK_FALSE(write_cpu_slice(late_entry, kCode).has_value());
  CpuSlice odd_level = two_kernels();
  odd_level.level = 2;
  CHECK_FALSE(write_cpu_slice(odd_level, kCode).has_value());
}

/// A slice with one number changed, its header made right again: the reader's word on it, empty when it reads it.
template <class T>
std::string said_of(Bytes bytes, size_t at, T value) {
  store_le<T>(&bytes[at], value);
  const auto rows_bytes = load_le<uint64_t>(&bytes[32]);
  constexpr size_t kDigestAt = kCpuSliceHeaderBytes - sizeof(Digest::bytes);
  Hasher hasher;
  hasher.update(ByteView(bytes).first(kDigestAt));
  if (rows_bytes <= bytes.size() - kCpuSliceHeaderBytes)
    hasher.update(ByteView(bytes).subspan(kCpuSliceHeaderBytes, rows_bytes));
  const Digest digest = hasher.finish();
  std::copy(digest.bytes.begin(), digest.bytes.end(), bytes.begin() + kDigestAt);
  const Result<CpuSlice> slice = read_cpu_slice(bytes);
  return slice ? std::string() : slice.error().message;
}

TEST_CASE("every number of a row is read up to its bound and not one further") {
  const Bytes whole = write_cpu_slice(two_kernels(), kCode).value();
  const uint64_t code = load_le<uint64_t>(&whole[40]);
  // Rows: their count, then name, what has its place, constants, private buffers, method.
  const size_t count = kCpuSliceHeaderBytes, vadd = count + 4 + 4 + 4, constants = vadd + 74 + 4;
  const size_t second = constants + 2 * 16 + 4 + (4 + 4), histogram = second + 4 + 9, buffers = histogram + 74 + 4 + 4;
  const auto ok = [&](size_t at, auto value) { return said_of(whole, at, value).empty(); };
  const auto refused = [&](size_t at, auto value, std::string_view with) {
    const std::string said = said_of(whole, at, value);
    INFO(said);
    return said.find(with) != said.npos;
  };
  CHECK(ok(vadd, uint8_t{1}));  // range
  CHECK(refused(vadd, uint8_t{4}, "kernel 'vadd' has range kind 4 and checked flag 0"));
  CHECK(ok(vadd + 1, uint8_t{1}));
  CHECK(refused(vadd + 1, uint8_t{2}, "kernel 'vadd' has range kind 0 and checked flag 2"));
  CHECK(refused(vadd - 8, uint32_t{0}, "kernel ''"));  // its name's length: none

  CHECK(load_le<uint64_t>(&whole[vadd + 2]) == code);
  const std::string bounds = fmt::format("code lies in {}..{}", code, whole.size());
  CHECK(refused(vadd + 2, code - 64, bounds));
  CHECK(refused(vadd + 2, code + 1, bounds));
  CHECK(refused(vadd + 2, whole.size() / 64 * 64 + 64, bounds));
  CHECK(refused(vadd + 10, whole.size() - code + 1, bounds));
  CHECK(ok(vadd + 18, uint64_t{99}));  // the entry, in 100 bytes of code
  CHECK(refused(vadd + 18, uint64_t{100}, "entry at 100"));

  CHECK(ok(histogram + 58, uint32_t{320}));  // threadgroup memory, of 320 bytes of scratch
  CHECK(refused(histogram + 58, uint32_t{321}, "321 bytes of threadgroup memory in 320 bytes of scratch"));
  CHECK(ok(vadd + 70, uint32_t{10}));  // bytes of constants; the last flag lies at 9
  CHECK(refused(vadd + 70, uint32_t{9}, "function constant 2 lies outside its 9 bytes"));
  CHECK(ok(constants + 4, uint32_t{8}));  // a constant of 4 bytes in 12
  CHECK(refused(constants + 4, uint32_t{9}, "function constant 0 lies outside its 12 bytes"));
  CHECK(ok(constants + 12, uint32_t{11}));
  CHECK(refused(constants + 12, uint32_t{12}, "function constant 0 lies outside its 12 bytes"));
  CHECK(ok(buffers, uint32_t{SMELT_CPU_MAX_BUFFERS - 1}));
  CHECK(refused(buffers, uint32_t{SMELT_CPU_MAX_BUFFERS}, "private buffer 31 with operation"));
  CHECK(ok(buffers + 4, static_cast<uint8_t>(CpuPrivateBuffer::kLastOperation)));
  CHECK(refused(buffers + 4, static_cast<uint8_t>(static_cast<uint8_t>(CpuPrivateBuffer::kLastOperation) + 1),
                "private buffer 1 with operation"));

  CHECK(refused(count, uint32_t{1}, "bytes follow the last of 1 rows"));
  CHECK(refused(count, uint32_t{1000}, "1000 kernels claimed at offset"));
  CHECK(refused(constants - 4, uint32_t{1000}, "1000 function constants claimed at offset"));
  CHECK(refused(buffers - 4, uint32_t{1000}, "1000 private buffers claimed at offset"));
  CHECK(refused(vadd - 8, uint32_t{(1 << 16) + 1}, "a kernel's name at offset"));

  // The header: architecture and level, where rows and code lie, and how many bytes there are.
  CHECK(ok(12, uint32_t{3}));
  CHECK(refused(12, uint32_t{2}, "architecture 1 level 2"));
  CHECK(refused(12, uint32_t{5}, "architecture 1 level 5"));
  CHECK(refused(8, uint32_t{2}, "architecture 2 level 4"));
  CHECK(refused(8, uint32_t{3}, "architecture 3"));
  CHECK(refused(16, whole.size() - 1, "the header says"));
  CHECK(refused(16, whole.size() + 1, "the header says"));
  CHECK(refused(24, uint64_t{kCpuSliceHeaderBytes} + 1, "do not make"));
  CHECK(refused(32, uint64_t{whole.size()}, "do not make"));
  CHECK(refused(40, uint64_t{kCpuSliceHeaderBytes}, "do not make"));
  CHECK(refused(48, uint64_t{whole.size() - code - 1}, "do not make"));
  CHECK(refused(4, uint16_t{0}, "contradict each other"));
  CHECK(refused(6, uint16_t{0}, "contradict each other"));
  const uint16_t format = load_le<uint16_t>(&whole[4]);
  CHECK(ok(6, format));
  CHECK(ok(4, uint16_t{9}));
  CHECK(refused(0, uint32_t{0x12345678}, "starts with 12345678"));
}

TEST_CASE("padding that holds something is named with its place") {
  const Bytes whole = write_cpu_slice(two_kernels(), kCode).value();
  const uint64_t code = load_le<uint64_t>(&whole[40]);
  const uint64_t rows_end = kCpuSliceHeaderBytes + load_le<uint64_t>(&whole[32]);
  REQUIRE(rows_end < code);
  for (const uint64_t at : {rows_end, code - 1, code + 100, code + 127}) {
    Bytes bytes = whole;
    bytes[at] = std::byte{0x5a};
    const Result<CpuSlice> slice = read_cpu_slice(bytes);
    REQUIRE_FALSE(slice);
    CHECK(slice.error().message == fmt::format("CPU slice: padding at offset {} holds 0x5a", at));
  }
}

TEST_CASE("names and code are as long as they may be") {
  CpuSlice slice = two_kernels();
  slice.kernels[0].name = std::string(1 << 16, 'n');
  CHECK(read_cpu_slice(write_cpu_slice(slice, kCode).value()).value().kernels[0].name.size() == 1 << 16);
  slice.kernels[0].name += 'n';
  CHECK_FALSE(write_cpu_slice(slice, kCode));
  slice.kernels[0].name.clear();
  CHECK_FALSE(write_cpu_slice(slice, kCode));
  slice = two_kernels();
  slice.kernels[0].entry_offset = 99;
  CHECK(write_cpu_slice(slice, kCode));
  slice.kernels[0].entry_offset = 100;
  CHECK_FALSE(write_cpu_slice(slice, kCode));
  for (const uint32_t level : {3u, 4u}) {
    slice = two_kernels();
    slice.level = level;
    CHECK(write_cpu_slice(slice, kCode));
  }
  slice.level = 5;
  CHECK_FALSE(write_cpu_slice(slice, kCode));
}

}  // namespace
}  // namespace smelt::schema
