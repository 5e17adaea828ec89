// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "npy.hpp"

#include <array>
#include <charconv>

namespace smelt::cli {
namespace {

struct TypeWord {
  std::string_view word;
  std::string_view descr;
  uint32_t bytes;
};
constexpr TypeWord kTypes[] = {
    {"f16", "<f2", 2}, {"f32", "<f4", 4},  {"f64", "<f8", 8},  {"i8", "|i1", 1},  {"i16", "<i2", 2},
    {"i32", "<i4", 4}, {"i64", "<i8", 8},  {"u8", "|u1", 1},   {"u16", "<u2", 2}, {"u32", "<u4", 4},
    {"u64", "<u8", 8}, {"bool", "|b1", 1}, {"bf16", "<u2", 2},
};
constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr uint64_t kMostHeader = 1 << 16;

/// What follows `key` in the header's dictionary, up to the end.
Result<std::string_view> value_of(std::string_view header, std::string_view key) {
  const size_t at = header.find(fmt::format("'{}'", key));
  const size_t colon = at == header.npos ? at : header.find(':', at);
  if (colon == header.npos) return fail(Errc::corrupt, ".npy: the header has no '{}': {}", key, header);
  std::string_view value = header.substr(colon + 1);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value;
}

Result<std::vector<uint64_t>> parse_shape(std::string_view text) {
  const size_t end = text.find(')');
  if (!text.starts_with('(') || end == text.npos) return fail(Errc::corrupt, ".npy: shape '{}'", text);
  text = text.substr(1, end - 1);
  std::vector<uint64_t> shape;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
    if (text.empty()) return shape;
    uint64_t extent = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (parsed.ec != std::errc() || shape.size() == 32) return fail(Errc::corrupt, ".npy: shape '({})'", text);
    shape.push_back(extent);
    text.remove_prefix(static_cast<size_t>(parsed.ptr - text.data()));
  }
}

}  // namespace

uint64_t NpyArray::elements() const {
  uint64_t product = 1;
  for (const uint64_t extent : shape) product *= extent;
  return product;
}

Result<uint32_t> element_bytes(std::string_view type) {
  for (const TypeWord& word : kTypes)
    if (word.word == type) return word.bytes;
  return fail(Errc::argument_type,
              "type '{}' is not known; want one of f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 bool", type);
}

Result<NpyArray> read_npy(ByteView file) {
  Cursor in(file, ".npy");
  if (file.size() < kMagic.size() || as_text(file.first(kMagic.size())) != kMagic)
    return fail(Errc::source_type, ".npy: this is not a NumPy file: its first bytes are not \\x93NUMPY");
  SMELT_TRY_VOID(in.skip(kMagic.size()));
  SMELT_TRY(const uint8_t major, in.read<uint8_t>());
  SMELT_TRY_VOID(in.skip(1));
  if (major < 1 || major > 3) return fail(Errc::format_newer, ".npy: format {}; this reader reads 1 to 3", major);
  uint64_t header_bytes = 0;
  if (major == 1) {
    SMELT_TRY(header_bytes, in.read<uint16_t>());
  } else {
    SMELT_TRY(header_bytes, in.read<uint32_t>());
  }
  if (header_bytes > kMostHeader) return fail(Errc::corrupt, ".npy: a header of {} bytes", header_bytes);
  SMELT_TRY(const ByteView header_view, in.take(header_bytes));
  const std::string_view header = as_text(header_view);

  NpyArray array;
  SMELT_TRY(const std::string_view descr, value_of(header, "descr"));
  uint32_t size = 0;
  for (const TypeWord& word : kTypes)
    if (size == 0 && descr.starts_with(fmt::format("'{}'", word.descr))) {
      array.type = word.word;
      size = word.bytes;
    }
  if (size == 0)
    return fail(Errc::argument_type, ".npy: element type {}; want little-endian floats, integers or bool",
                descr.substr(0, descr.find(',')));
  SMELT_TRY(const std::string_view order, value_of(header, "fortran_order"));
  array.fortran_order = order.starts_with("True");
  SMELT_TRY(const std::string_view shape, value_of(header, "shape"));
  SMELT_TRY(array.shape, parse_shape(shape));
  uint64_t bytes = size;
  for (const uint64_t extent : array.shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return fail(Errc::corrupt, ".npy: the shape overflows");
  if (bytes != in.left())
    return fail(Errc::corrupt, ".npy: shape and type make {} bytes, the file has {}", bytes, in.left());
  array.data = to_bytes(in.rest());
  return array;
}

Bytes write_npy(const NpyArray& array) {
  std::string shape;
  for (const uint64_t extent : array.shape) shape += fmt::format("{}, ", extent);
  if (array.shape.size() > 1) shape.resize(shape.size() - 2);
  if (array.shape.size() == 1) shape.resize(shape.size() - 1);  // "(3,)"
  std::string_view descr;
  for (const TypeWord& word : kTypes)
    if (word.word == array.type) descr = word.descr;
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}), }}", descr,
                                   array.fortran_order ? "True" : "False", shape);
  // Magic, version, length, header and newline fill a multiple of 64 bytes.
  const size_t before = kMagic.size() + 4;
  header.append((64 - (before + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  ByteWriter out;
  out.put_text(kMagic);
  out.put<uint8_t>(1);
  out.put<uint8_t>(0);
  out.put<uint16_t>(static_cast<uint16_t>(header.size()));
  out.put_text(header);
  out.put_bytes(array.data);
  return out.take();
}

}  // namespace smelt::cli
