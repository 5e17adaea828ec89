// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Private to emit*.cpp.
#pragma once

#include "bitcode/bit_stream.hpp"
#include "bitcode/emit.hpp"

#include "llvm/IR/DebugInfoMetadata.h"

namespace smelt::aot::bitcode {

class StreamEmitter {
 public:
  explicit StreamEmitter(TypedModule& module);
  Bytes run();

 private:
  // emit.cpp
  void identification();
  void number_module();
  void globals();
  void section_names();
  uint64_t section(const llvm::GlobalObject& object) const;
  void name(std::string_view text);
  void constants(std::span<const Constant> pool);
  void number_constants(std::vector<Constant>& pool, uint32_t& next);
  void tags();
  void function(Body& body);
  void instruction(const Record& record, uint32_t& here);
  void field(const Field& field, uint32_t here);
  void debug_location(const Record& record);
  void local_metadata(const Body& body, uint32_t here);
  void attachments(const Body& body);
  void function_offsets(uint64_t patch_at, std::span<const uint64_t> starts);
  void string_table();
  template <class Visit>
  void each_record(const Body& body, Visit visit) const;

  // emit_metadata.cpp
  void metadata_kinds();
  void metadata();
  void metadata_strings();
  void node(const MetadataTable::Node& node);
  void debug_node(const llvm::MDNode& node);
  class DebugRecord;  // emit_debug_info.cpp
  template <class Attachments>
  void global_attachments(ValueRef value, const Attachments& attachments);
  uint64_t ref(const llvm::Metadata* metadata) const {  // id + 1, 0 for none
    const MetadataRef known = metadata ? module_.metadata.find(metadata) : 0;
    return known ? module_.metadata.id(known) + uint64_t{1} : 0;
  }

  uint32_t id(ValueRef value) const { return module_.values[value].id; }
  TypeId type(ValueRef value) const { return module_.values[value].type; }
  void flush(unsigned code) {
    out_.record(code, operands_);
    operands_.clear();
  }
  void push(std::initializer_list<uint64_t> values) { operands_.insert(operands_.end(), values); }

  TypedModule& module_;
  BitWriter out_;
  std::vector<uint64_t> operands_;  // of the record being made; empty between records
  std::string strings_;
  std::vector<std::string> sections_;
  uint32_t module_values_ = 0;
  uint64_t start_ = 0;  // first bit of IDENTIFICATION, from which offsets count
  uint32_t last_location_ = 0;
};

template <class Visit>
void StreamEmitter::each_record(const Body& body, Visit visit) const {
  for (const Block& block : body.blocks) {
    const uint32_t last = block.first + block.count - 1;
    for (uint32_t i = block.first; i < last; ++i) visit(module_.records[i]);
    for (const uint32_t i : block.edge) visit(module_.records[i]);
    visit(module_.records[last]);
  }
}

}  // namespace smelt::aot::bitcode
