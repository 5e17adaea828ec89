// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/metadata_numbers.hpp"

#include <initializer_list>

namespace smelt::aot {
namespace {

// Codes of records, and below the places of their operands: llvm/Bitcode/LLVMBitCodes.h and LLVM's MetadataLoader.
enum Code : uint64_t {
  kNode = 3,
  kName = 4,
  kDistinctNode = 5,
  kKind = 6,
  kLocation = 7,
  kNamedNode = 10,
  kStrings = 35,
  kGlobalAttachment = 36,
  kIndexOffset = 38,
  kIndex = 39,
};

/// Operands that are metadata in every version of a record of debug information.
struct Places {
  uint64_t code;
  std::initializer_list<uint8_t> operands;
};
const Places kPlaces[] = {
    {14, {2}},                              // enumerator
    {15, {2}},                              // basic type
    {16, {1, 2}},                           // file
    {17, {2, 3, 5, 6, 11}},                 // derived type
    {18, {2, 3, 5, 6, 11, 13, 14, 15}},     // composite type
    {19, {2}},                              // subroutine type
    {20, {2, 3, 5, 7, 9, 10, 11, 12, 13}},  // compile unit
    {21, {1, 2, 3, 4, 6}},                  // subprogram
    {22, {1, 2}},                           // lexical block
    {23, {1, 2}},                           // lexical block file
    {24, {1, 2}},                           // namespace
    {25, {1, 2}},                           // template type
    {26, {2, 3}},                           // template value
    {27, {1, 2, 3, 4, 6}},                  // global variable
    {28, {2, 3}},                           // local variable
    {30, {1, 2, 4, 5, 7}},                  // Objective-C property
    {31, {2, 3, 5}},                        // imported entity
    {33, {3, 4}},                           // macro
    {34, {3, 4}},                           // macro file
    {37, {1, 2}},                           // global variable expression
    {40, {1, 2, 3}},                        // label
};

/// How many numbers a record gives.
uint64_t made_by(uint64_t code, const std::vector<uint64_t>& operands) {
  switch (code) {
    case kName:
    case kKind:
    case kNamedNode:
    case kGlobalAttachment:
    case kIndexOffset:
    case kIndex:
      return 0;
    case kStrings:
      return operands.empty() ? 0 : operands[0];
    default:
      return 1;
  }
}

}  // namespace

void MetadataNumbers::enter_block(bool in_function) {
  in_function_ = in_function;
  highest_ = 0;
}

void MetadataNumbers::add(uint64_t code, const std::vector<uint64_t>& operands) {
  (in_function_ ? of_function_ : of_module_) += made_by(code, operands);
  if (code == kNode || code == kDistinctNode) {
    for (const uint64_t operand : operands) name(operand);
  } else if (code == kNamedNode) {
    for (const uint64_t operand : operands) name_at(operand);
  } else if (code == kGlobalAttachment) {  // [value, kind, node, ...]
    attachments(operands, 1);
  } else if (code == kLocation) {  // [distinct, line, column, scope, inlined at or null, ...]
    if (operands.size() > 3) name_at(operands[3]);
    if (operands.size() > 4) name(operands[4]);
  } else {
    debug_info(code, operands);
  }
}

void MetadataNumbers::add_attachments(const std::vector<uint64_t>& operands) {
  attachments(operands, operands.size() % 2);  // [instruction, kind, node, ...], of the function without the first
}

void MetadataNumbers::attachments(const std::vector<uint64_t>& operands, size_t first) {
  for (size_t i = first + 1; i < operands.size(); i += 2) name_at(operands[i]);
}

void MetadataNumbers::debug_info(uint64_t code, const std::vector<uint64_t>& operands) {
  for (const Places& places : kPlaces) {
    if (places.code != code) continue;
    for (const uint8_t place : places.operands)
      if (place < operands.size()) name(operands[place]);
  }
}

Result<void> MetadataNumbers::check(uint64_t at) const {
  const uint64_t count = of_module_ + of_function_;
  if (highest_ <= count) return {};
  return fail(Errc::corrupt, "bit {}: metadata number {} is used, there are {}", at, highest_ - 1, count);
}

}  // namespace smelt::aot
