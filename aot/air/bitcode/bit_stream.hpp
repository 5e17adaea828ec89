// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's bitstream, writing side, with what a writer of AIR needs of it: blocks, unabbreviated records, and the three
// abbreviations that the format asks for.
//
//   stream := "BC" C0 DE, block*                      bits are filled from the lowest of each byte
//   block  := 1:width, id:vbr8, new width:vbr4, align32, length in words:u32, item*, 0:width, align32
//   record := 3:width, code:vbr6, count:vbr6, operand:vbr6 *                        (UNABBREV_RECORD)
//   abbreviated record := abbreviation id (from 4):width, then what DEFINE_ABBREV (2:width) said
//
// Readers do not care whether a record is abbreviated, so only blobs (string tables) and the one fixed-width field that
// is patched later (VSTOFFSET) are. See docs/design/bitcode-writer.md section 4.
#pragma once

#include "smelt/base/bytes.hpp"

#include "llvm/Bitstream/BitstreamWriter.h"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace smelt::aot::bitcode {

/// Appends bits to owned bytes. Positions are bits from the first byte. Not thread-safe, and stays where it is.
class BitWriter {
 public:
  explicit BitWriter(size_t expected_bytes) { buffer_.reserve(expected_bytes + 64); }
  BitWriter(const BitWriter&) = delete;
  BitWriter& operator=(const BitWriter&) = delete;

  /// The low `width` bits of `value` (1 to 32); the bits above must be zero.
  void put(uint32_t value, unsigned width) { stream_.Emit(value, width); }
  /// Groups of `width` bits, lowest first, the top bit of each saying that another follows.
  void put_vbr(uint64_t value, unsigned width) { stream_.EmitVBR64(value, width); }
  void align_word() { stream_.FlushToWord(); }
  uint64_t position() const { return stream_.GetCurrentBitNo(); }

  void enter_block(unsigned id, unsigned width) { stream_.EnterSubblock(id, width); }
  void exit_block() { stream_.ExitBlock(); }

  void record(unsigned code, std::span<const uint64_t> operands) {
    stream_.EmitRecord(code, llvm::ArrayRef(operands.data(), operands.size()));
  }
  void record(unsigned code, std::initializer_list<uint64_t> operands) {
    record(code, std::span(operands.begin(), operands.size()));
  }
  /// Nothing at all for empty text.
  void text_record(unsigned code, std::string_view text);

  /// A record of `operands` (each VBR6) and a blob, with an abbreviation defined in front of it.
  void blob_record(unsigned code, std::initializer_list<uint64_t> operands, std::string_view blob);
  /// A record of one 32-bit field, zero for now; returns where the field is, for patch().
  uint64_t fixed_record(unsigned code);
  /// Sets the field of a fixed_record().
  void patch(uint64_t bit_position, uint32_t value) { stream_.BackpatchWord(bit_position, value); }

  /// Everything written; the caller has closed every block.
  Bytes take();

 private:
  llvm::SmallVector<char, 0> buffer_;
  llvm::BitstreamWriter stream_{buffer_};
};

}  // namespace smelt::aot::bitcode
