// LLVM's bitstream, writing side: blocks, unabbreviated records, and the three abbreviations that the format asks for.
//
//   stream := "BC" C0 DE, block*                      bits are filled from the lowest of each byte
//   block  := 1:width, id:vbr8, new width:vbr4, align32, length in words:u32, item*, 0:width, align32
//   record := 3:width, code:vbr6, count:vbr6, operand:vbr6 *                        (UNABBREV_RECORD)
//   abbreviated record := abbreviation id (from 4):width, then what DEFINE_ABBREV (2:width) said
//
// Readers do not care whether a record is abbreviated, so only blobs (string tables) and the one fixed-width field that
// is patched later (VSTOFFSET) are. See docs/air-writer.md section 4.
#pragma once

#include "smelt/base/bytes.hpp"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace smelt::aot::bitcode {

/// Appends bits to owned bytes. Positions are bits from the first byte. Not thread-safe.
class BitWriter {
 public:
  explicit BitWriter(size_t expected_bytes) : bytes_(expected_bytes + 64) {}

  /// The low `width` bits of `value` (1 to 32); the bits above must be zero.
  void put(uint32_t value, unsigned width) {
    pending_ |= static_cast<uint64_t>(value) << used_;
    used_ += width;
    if (used_ >= 32) flush_word();
  }
  /// Groups of `width` bits, lowest first, the top bit of each saying that another follows.
  void put_vbr(uint64_t value, unsigned width) {
    if (value >> (width - 1) == 0) return put(static_cast<uint32_t>(value), width);
    const uint32_t more = 1u << (width - 1);
    while (value >= more) {
      put((static_cast<uint32_t>(value) & (more - 1)) | more, width);
      value >>= width - 1;
    }
    put(static_cast<uint32_t>(value), width);
  }
  void align_word() {
    if (used_ != 0) {
      used_ = 32;
      flush_word();
    }
  }
  uint64_t position() const { return static_cast<uint64_t>(size_) * 8 + used_; }

  void enter_block(unsigned id, unsigned width);
  void exit_block();

  void record(unsigned code, std::span<const uint64_t> operands);
  void record(unsigned code, std::initializer_list<uint64_t> operands) {
    record(code, std::span(operands.begin(), operands.size()));
  }
  /// Nothing at all for empty text.
  void text_record(unsigned code, std::string_view text);

  /// A record of `operands` (each VBR6) and a blob, with an abbreviation defined in front of it.
  void blob_record(unsigned code, std::initializer_list<uint64_t> operands, std::string_view blob);
  /// A record of one 32-bit field; returns where the field is, for patch().
  uint64_t fixed_record(unsigned code);
  /// Overwrites a word-aligned 32-bit field.
  void patch(uint64_t bit_position, uint32_t value);

  /// Everything written; the caller has closed every block.
  Bytes take();

 private:
  void flush_word() {
    if (size_ + 4 > bytes_.size()) bytes_.resize(bytes_.size() * 2);
    store_le(bytes_.data() + size_, static_cast<uint32_t>(pending_));
    size_ += 4;
    pending_ >>= 32;
    used_ -= 32;
  }

  struct Block {
    size_t length_at;  // byte offset of the length word
    unsigned width;    // of the enclosing block
    unsigned next_abbrev;
  };

  Bytes bytes_;      // as large as it has grown
  size_t size_ = 0;  // of which written; a multiple of 4
  uint64_t pending_ = 0;
  unsigned used_ = 0;
  unsigned width_ = 2;
  unsigned next_abbrev_ = 4;
  std::vector<Block> open_;
};

}  // namespace smelt::aot::bitcode
