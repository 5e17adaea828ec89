// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bitcode/bit_stream.hpp"

namespace smelt::aot::bitcode {

void BitWriter::text_record(unsigned code, std::string_view text) {
  if (!text.empty()) stream_.EmitRecord(code, llvm::arrayRefFromStringRef(text));
}

void BitWriter::blob_record(unsigned code, std::initializer_list<uint64_t> operands, std::string_view blob) {
  using Operand = llvm::BitCodeAbbrevOp;
  auto shape = std::make_shared<llvm::BitCodeAbbrev>();
  shape->Add(Operand(code));
  for (size_t i = 0; i < operands.size(); ++i) shape->Add(Operand(Operand::VBR, 6));
  shape->Add(Operand(Operand::Blob));
  llvm::SmallVector<uint64_t, 4> values = {code};
  values.append(operands);
  const unsigned abbreviation = stream_.EmitAbbrev(std::move(shape));
  stream_.EmitRecordWithBlob(abbreviation, values, blob);
}

uint64_t BitWriter::fixed_record(unsigned code) {
  using Operand = llvm::BitCodeAbbrevOp;
  auto shape = std::make_shared<llvm::BitCodeAbbrev>();
  shape->Add(Operand(code));
  shape->Add(Operand(Operand::Fixed, 32));
  const unsigned abbreviation = stream_.EmitAbbrev(std::move(shape));
  const uint64_t values[] = {code, 0};
  stream_.EmitRecordWithAbbrev(abbreviation, llvm::ArrayRef(values));
  return position() - 32;  // on any bit: patch() does not mind
}

Bytes BitWriter::take() {
  align_word();
  return to_bytes(as_bytes({buffer_.data(), buffer_.size()}));
}

}  // namespace smelt::aot::bitcode
