// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metadata records: kinds, strings, values, nodes, named nodes, attachments. See docs/design/bitcode-writer.md
// section 8.
#include "bitcode/emitter.hpp"

#include "llvm/Bitcode/LLVMBitCodes.h"

namespace smelt::aot::bitcode {

namespace bitc = llvm::bitc;

void StreamEmitter::metadata_kinds() {
  std::vector<bool> used;
  auto mark = [&](std::span<const Attachment> attachments) {
    for (const Attachment& one : attachments) {
      if (one.kind >= used.size()) used.resize(one.kind + 1);
      used[one.kind] = true;
    }
  };
  mark(module_.attachments);
  for (const Variable& variable : module_.variables) mark(variable.attachments);
  for (const FunctionHeader& function : module_.functions) mark(function.attachments);
  for (const Body& body : module_.bodies) mark(body.attachments);
  if (used.empty()) return;
  llvm::SmallVector<llvm::StringRef, 64> names;
  module_.source->getMDKindNames(names);
  out_.enter_block(bitc::METADATA_KIND_BLOCK_ID, 3);
  for (size_t kind = 0; kind < used.size(); ++kind) {
    if (!used[kind]) continue;
    operands_.push_back(kind);
    for (const char c : names[kind]) operands_.push_back(static_cast<unsigned char>(c));
    flush(bitc::METADATA_KIND);
  }
  out_.exit_block();
}

// One record for all strings: count, offset of the characters, and a blob of VBR6 lengths, padding, characters.
void StreamEmitter::metadata_strings() {
  const auto& strings = module_.metadata.strings();
  if (strings.empty()) return;
  size_t characters = 0;
  BitWriter lengths(strings.size() * 2);
  for (const llvm::MDString* string : strings) {
    lengths.put_vbr(string->getLength(), 6);
    characters += string->getLength();
  }
  const Bytes head = lengths.take();
  std::string blob;
  blob.reserve(head.size() + characters);
  blob += as_text(head);
  for (const llvm::MDString* string : strings) blob += string->getString();
  out_.blob_record(bitc::METADATA_STRINGS, {strings.size(), head.size()}, blob);
}

void StreamEmitter::node(const MetadataTable::Node& node) {
  if (!llvm::isa<llvm::MDTuple>(node.node)) return debug_node(*node.node);
  for (const MetadataRef operand : module_.metadata.operands(node))
    operands_.push_back(operand ? module_.metadata.id(operand) + uint64_t{1} : 0);
  flush(node.node->isDistinct() ? bitc::METADATA_DISTINCT_NODE : bitc::METADATA_NODE);
}

template <class Attachments>
void StreamEmitter::global_attachments(ValueRef value, const Attachments& attachments) {
  if (attachments.empty()) return;
  operands_.push_back(id(value));
  for (const Attachment& one : attachments) push({one.kind, module_.metadata.id(one.node)});
  flush(bitc::METADATA_GLOBAL_DECL_ATTACHMENT);
}

void StreamEmitter::metadata() {
  const MetadataTable& table = module_.metadata;
  if (table.size() == 0 && module_.source->named_metadata_empty()) return;
  out_.enter_block(bitc::METADATA_BLOCK_ID, 4);
  metadata_strings();
  for (const MetadataTable::NamedValue& value : table.values())
    out_.record(bitc::METADATA_VALUE, {type(value.value), id(value.value)});
  for (const MetadataTable::Node& one : table.nodes()) node(one);
  for (const llvm::NamedMDNode& list : module_.source->named_metadata()) {
    bool any = list.getNumOperands() == 0;  // an empty list stays; one of debug info alone goes
    for (const llvm::MDNode* one : list.operands()) {
      if (!keep_named_operand(list, *one, table.keeps_debug())) continue;
      any = true;
      operands_.push_back(table.id(table.find(one)));
    }
    if (!any) continue;
    const std::vector<uint64_t> nodes = std::exchange(operands_, {});
    out_.text_record(bitc::METADATA_NAME, list.getName());
    out_.record(bitc::METADATA_NAMED_NODE, nodes);
  }
  for (const FunctionHeader& function : module_.functions) global_attachments(function.value, function.attachments);
  for (const Variable& variable : module_.variables) global_attachments(variable.value, variable.attachments);
  out_.exit_block();
}

}  // namespace smelt::aot::bitcode
