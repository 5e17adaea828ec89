// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The module's metadata in the order of its records: strings, then values, then nodes with their operands first.
//
// A MetadataRef is a number in order of discovery; the final id is known when everything has been found. Without
// `keep_debug` no node of debug info is taken up, and a tuple that names one loses that operand (loop metadata does).
#pragma once

#include "bitcode/types.hpp"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class Constant;
class MDNode;
class MDString;
class Metadata;
class NamedMDNode;
}  // namespace llvm

namespace smelt::aot::bitcode {

/// 0: none.
using MetadataRef = uint32_t;

class MetadataTable {
 public:
  /// `constant` gives the ValueRef of a module-level constant in the type it has by itself.
  using ConstantOf = llvm::function_ref<uint32_t(const llvm::Constant*)>;

  MetadataTable() { known_.reserve(256); }
  void keep_debug(bool keep) { keep_debug_ = keep; }
  bool keeps_debug() const { return keep_debug_; }

  /// Takes up `metadata` and all it refers to. 0 for null, and for debug info that is not kept. What LLVM 14 has no
  /// record for goes to `trouble`.
  MetadataRef add(const llvm::Metadata* metadata, ConstantOf constant, Trouble& trouble);

  /// Ids; call once, after the last add().
  void number();
  uint32_t id(MetadataRef ref) const { return items_[ref].id; }
  MetadataRef find(const llvm::Metadata* metadata) const {
    auto at = known_.find(metadata);
    return at == known_.end() ? 0 : at->second;
  }

  struct NamedValue {
    MetadataRef ref = 0;
    uint32_t value = 0;  // a ValueRef
  };
  struct Node {
    const llvm::MDNode* node = nullptr;
    MetadataRef ref = 0;
    uint32_t first_operand = 0, operand_count = 0;  // of tuples
  };
  const std::vector<const llvm::MDString*>& strings() const { return strings_; }
  const std::vector<NamedValue>& values() const { return values_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  std::span<const MetadataRef> operands(const Node& node) const {
    return std::span(operands_).subspan(node.first_operand, node.operand_count);
  }
  uint32_t size() const { return static_cast<uint32_t>(items_.size() - 1); }

 private:
  enum class Kind : uint8_t { string, value, node };
  struct Item {
    Kind kind = Kind::string;
    uint32_t id = 0;
  };
  struct Visit {
    const llvm::MDNode* node;
    MetadataRef ref;
    unsigned next;
  };
  MetadataRef open(const llvm::Metadata* metadata, ConstantOf constant, Trouble& trouble, std::vector<Visit>& stack);
  void close(const Visit& visit);

  bool keep_debug_ = false;
  std::vector<Item> items_{Item{}};
  llvm::DenseMap<const llvm::Metadata*, MetadataRef> known_;
  std::vector<const llvm::MDString*> strings_;
  std::vector<MetadataRef> string_refs_;
  std::vector<NamedValue> values_;
  std::vector<Node> nodes_;
  std::vector<MetadataRef> operands_;
};

/// Whether this operand of a named node is written: not for module flags with behaviour 8 (`min`, LLVM 15), on which
/// LLVM 14 aborts, nor for debug info's flags and compile units when that is not kept.
bool keep_named_operand(const llvm::NamedMDNode& list, const llvm::MDNode& node, bool keep_debug);

}  // namespace smelt::aot::bitcode
