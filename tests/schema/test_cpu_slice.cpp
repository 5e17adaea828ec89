// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CPU slices: what is written is read back; nothing damaged is.
#include "smelt/schema/cpu_slice.hpp"

#include <doctest/doctest.h>

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
  CHECK_FALSE(add.checked);
  CHECK(add.entry_offset == 16);
  REQUIRE(add.constants.size() == 2);
  CHECK(add.constants[1].index == 2);
  CHECK(add.constants[1].offset == 4);
  CHECK(add.constants[1].defined_offset == 9);
  CHECK(add.method == "loop");
  const CpuKernel& histogram = slice.kernels[1];
  CHECK(histogram.range == CpuRangeKind::groups);
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
  store_le<uint16_t>(&bytes[4], 7);
  store_le<uint16_t>(&bytes[6], 5);
  const Result<CpuSlice> slice = read_cpu_slice(bytes);
  REQUIRE_FALSE(slice.has_value());
  CHECK(slice.error().code == Errc::format_newer);
  CHECK(slice.error().message.find("5") != std::string::npos);
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

}  // namespace
}  // namespace smelt::schema
