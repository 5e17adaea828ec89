// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bitcode/metadata.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::bitcode {
namespace {

bool is_debug_info(const llvm::Metadata* metadata) {
  const auto* node = llvm::dyn_cast<llvm::MDNode>(metadata);
  return node && !llvm::isa<llvm::MDTuple>(node);
}

// Nodes that LLVM 14 has records for. GenericDINode and the two of assignment tracking and extra-inhabitants are not.
bool has_record(const llvm::MDNode& node) {
  switch (node.getMetadataID()) {
    case llvm::Metadata::DIAssignIDKind:
    case llvm::Metadata::GenericDINodeKind:
      return false;
    default:
      return true;
  }
}

}  // namespace

MetadataRef MetadataTable::open(const llvm::Metadata* metadata, ConstantOf constant, Trouble& trouble,
                                std::vector<Visit>& stack) {
  if (!metadata) return 0;
  const bool debug = is_debug_info(metadata);
  if (debug && !keep_debug_) return 0;
  const auto next = static_cast<MetadataRef>(items_.size());
  auto [at, fresh] = known_.try_emplace(metadata, next);
  if (!fresh) return at->second;
  if (debug && !has_record(*llvm::cast<llvm::MDNode>(metadata))) return at->second = 0;
  if (const auto* text = llvm::dyn_cast<llvm::MDString>(metadata)) {
    items_.push_back({Kind::string});
    strings_.push_back(text);
    string_refs_.push_back(next);
  } else if (const auto* value = llvm::dyn_cast<llvm::ConstantAsMetadata>(metadata)) {
    items_.push_back({Kind::value});
    values_.push_back({next, 0});
    const size_t index = values_.size() - 1;
    values_[index].value = constant(value->getValue());
  } else if (const auto* node = llvm::dyn_cast<llvm::MDNode>(metadata)) {
    items_.push_back({Kind::node});
    stack.push_back({node, next, 0});
  } else {
    trouble.report(Errc::unsupported, "metadata that names a value of one function stands where all functions see it");
    return at->second = 0;
  }
  return next;
}

void MetadataTable::close(const Visit& visit) {
  Node node{visit.node, visit.ref, static_cast<uint32_t>(operands_.size()), 0};
  if (llvm::isa<llvm::MDTuple>(visit.node)) {
    for (const llvm::MDOperand& operand : visit.node->operands()) {
      const MetadataRef ref = operand ? find(operand.get()) : 0;
      if (ref == 0 && operand && is_debug_info(operand.get())) continue;
      operands_.push_back(ref);
    }
    node.operand_count = static_cast<uint32_t>(operands_.size() - node.first_operand);
  }
  nodes_.push_back(node);
}

MetadataRef MetadataTable::add(const llvm::Metadata* metadata, ConstantOf constant, Trouble& trouble) {
  if (auto at = known_.find(metadata); at != known_.end()) return at->second;
  std::vector<Visit> stack;  // nesting comes from the input, so it is not the C++ stack's business
  const MetadataRef ref = open(metadata, constant, trouble, stack);
  while (!stack.empty()) {
    Visit& top = stack.back();
    if (top.next < top.node->getNumOperands()) {
      const llvm::Metadata* operand = top.node->getOperand(top.next++).get();
      open(operand, constant, trouble, stack);  // may move `top`
      continue;
    }
    close(top);
    stack.pop_back();
  }
  return ref;
}

void MetadataTable::number() {
  uint32_t id = 0;
  for (const MetadataRef ref : string_refs_) items_[ref].id = id++;
  for (const NamedValue& value : values_) items_[value.ref].id = id++;
  for (const Node& node : nodes_) items_[node.ref].id = id++;
}

bool keep_named_operand(const llvm::NamedMDNode& list, const llvm::MDNode& node, bool keep_debug) {
  if (!keep_debug && !llvm::isa<llvm::MDTuple>(node)) return false;
  if (list.getName() != "llvm.module.flags" || node.getNumOperands() < 2) return true;
  const auto* behaviour = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(node.getOperand(0));
  if (behaviour && behaviour->getValue().ugt(7)) return false;
  if (keep_debug) return true;
  const auto* key = llvm::dyn_cast_or_null<llvm::MDString>(node.getOperand(1));
  return !key || (key->getString() != "Debug Info Version" && key->getString() != "Dwarf Version");
}

}  // namespace smelt::aot::bitcode
