#include "air/bitcode/bit_stream.hpp"

#include <algorithm>

namespace smelt::aot::bitcode {
namespace {

constexpr unsigned kEndBlock = 0, kEnterSubblock = 1, kDefineAbbrev = 2, kUnabbreviated = 3;
constexpr unsigned kFixed = 1, kVbr = 2, kBlob = 5;  // encodings in DEFINE_ABBREV

}  // namespace

void BitWriter::enter_block(unsigned id, unsigned width) {
  put(kEnterSubblock, width_);
  put_vbr(id, 8);
  put_vbr(width, 4);
  align_word();
  open_.push_back({size_, width_, next_abbrev_});
  put(0, 32);
  width_ = width;
  next_abbrev_ = 4;
}

void BitWriter::exit_block() {
  put(kEndBlock, width_);
  align_word();
  const Block block = open_.back();
  open_.pop_back();
  store_le(bytes_.data() + block.length_at, static_cast<uint32_t>((size_ - block.length_at) / 4 - 1));
  width_ = block.width;
  next_abbrev_ = block.next_abbrev;
}

void BitWriter::record(unsigned code, std::span<const uint64_t> operands) {
  put(kUnabbreviated, width_);
  put_vbr(code, 6);
  put_vbr(operands.size(), 6);
  for (const uint64_t operand : operands) put_vbr(operand, 6);
}

void BitWriter::text_record(unsigned code, std::string_view text) {
  if (text.empty()) return;
  put(kUnabbreviated, width_);
  put_vbr(code, 6);
  put_vbr(text.size(), 6);
  for (const char c : text) put_vbr(static_cast<unsigned char>(c), 6);
}

void BitWriter::blob_record(unsigned code, std::initializer_list<uint64_t> operands, std::string_view blob) {
  put(kDefineAbbrev, width_);
  put_vbr(operands.size() + 2, 5);
  put(1, 1);  // a literal: the code
  put_vbr(code, 8);
  for (size_t i = 0; i < operands.size(); ++i) {
    put(0, 1);
    put(kVbr, 3);
    put_vbr(6, 5);
  }
  put(0, 1);
  put(kBlob, 3);
  put(next_abbrev_++, width_);
  for (const uint64_t operand : operands) put_vbr(operand, 6);
  put_vbr(blob.size(), 6);
  align_word();
  const size_t end = (size_ + blob.size() + 3) / 4 * 4;
  if (end > bytes_.size()) bytes_.resize(end * 2);
  std::memcpy(bytes_.data() + size_, blob.data(), blob.size());
  std::fill(bytes_.begin() + static_cast<ptrdiff_t>(size_ + blob.size()), bytes_.begin() + static_cast<ptrdiff_t>(end),
            std::byte{0});
  size_ = end;
}

uint64_t BitWriter::fixed_record(unsigned code) {
  put(kDefineAbbrev, width_);
  put_vbr(2, 5);
  put(1, 1);
  put_vbr(code, 8);
  put(0, 1);
  put(kFixed, 3);
  put_vbr(32, 5);
  put(next_abbrev_++, width_);
  const uint64_t at = position();  // on any bit: patch() does not mind
  put(0, 32);
  return at;
}

Bytes BitWriter::take() {
  align_word();
  bytes_.resize(size_);
  return std::move(bytes_);
}

void BitWriter::patch(uint64_t bit_position, uint32_t value) {
  for (unsigned i = 0; i < 32; ++i) {
    const uint64_t bit = bit_position + i;
    std::byte& byte = bytes_[bit / 8];
    const std::byte mask{static_cast<uint8_t>(1u << (bit % 8))};
    byte = (value >> i) & 1 ? byte | mask : byte & ~mask;
  }
}

}  // namespace smelt::aot::bitcode
