// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Private to lower*.cpp: the state of one lowering.
//
// Every pointer has one *native* type: alloca E*, global G*, GEP R* (after the index walk), the declared type for
// parameters and results of air.* and llvm.*, else i8*. A use that wants another pointee gets a bitcast in front of it,
// a "view", shared inside its block. The native type is a pure function of the instruction, so a use can be lowered
// before its definition.
#pragma once

#include "bitcode/lower.hpp"
#include "bitcode/signature.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

namespace smelt::aot::bitcode {

class Lowering {
 public:
  Lowering(const llvm::Module& module, const LowerOptions& options, TypedModule& out);
  void run();
  const LowerStatistics& statistics() const { return statistics_; }

 private:
  // ---- lower_module.cpp: variables, functions, aliases, metadata --------------------------------------------------
  void declare_variables();
  void declare_functions();
  void declare_aliases();
  void lower_initializers();
  void lower_named_metadata();
  TypeId variable_type(const llvm::GlobalVariable& variable);
  Signature signature_of(const llvm::Function& function, const HandleParameters& handles);
  Signature signature_of_call(const llvm::CallBase& call);
  ValueRef declare_debug_function(llvm::StringRef name, unsigned parameters);
  ValueRef new_value(TypeId type) {
    out_.values.push_back({type});
    return static_cast<ValueRef>(out_.values.size() - 1);
  }
  TypeId type_of(ValueRef value) const { return out_.values[value].type; }
  MetadataRef metadata(const llvm::Metadata* metadata);
  template <class Source>
  std::vector<Attachment> attachments_of(const Source& source);
  void unsupported(std::string_view what) { out_.trouble.report(Errc::unsupported, what); }

  // ---- lower_constants.cpp ----------------------------------------------------------------------------------------
  enum class Lanes : uint8_t { as_they_are, poison_as_undef };
  ValueRef constant(const llvm::Constant* constant, TypeId want, Lanes lanes = Lanes::as_they_are);
  ValueRef build_constant(const llvm::Constant* constant, TypeId want, Lanes lanes);
  ValueRef build_expression(const llvm::ConstantExpr& expression, TypeId want);
  ValueRef build_data(const llvm::ConstantDataSequential& data, TypeId want);
  ValueRef pointer_constant(const llvm::Constant* constant, TypeId want);
  ValueRef native_pointer(const llvm::Constant* constant);
  ValueRef make_constant(uint32_t code, TypeId type, std::span<const Field> fields);
  ValueRef make_words(uint32_t code, TypeId type, std::span<const uint64_t> words);
  ValueRef remember(const llvm::Constant* constant, TypeId want, Lanes lanes, ValueRef value);
  ValueRef known_constant(const llvm::Constant* constant, TypeId want, Lanes lanes) const;
  std::vector<Constant>& pool() { return in_body() ? out_.bodies.back().constants : out_.constants; }
  bool in_body() const { return body_ && !at_module_level_; }

  // ---- lower_function.cpp: blocks, values, views ------------------------------------------------------------------
  void lower_body(uint32_t function_index);
  void lower_block(const llvm::BasicBlock& block, const FunctionHeader& header);
  void lower_phis();
  const llvm::Value* resolve(const llvm::Value* value) const;
  ValueRef value_of(const llvm::Value* value);
  TypeId native_type(const llvm::Value* value);
  TypeId repointed(const llvm::Type* pointer_like, TypeId pointee);
  const llvm::Function* direct_callee(const llvm::CallBase& call) const;
  /// `value` in exactly the type `want`; casts go to the current block.
  ValueRef use_as(const llvm::Value* value, TypeId want);
  /// `value` in the canonical type of its IR type.
  ValueRef use(const llvm::Value* value);
  ValueRef use_as_pointer_to(const llvm::Value* pointer, llvm::Type* pointee);
  ValueRef view(ValueRef native, TypeId want);
  bool needs_code(const llvm::Constant* constant, TypeId want) const;
  ValueRef expand(const llvm::Constant* constant);
  ValueRef expand_expression(const llvm::ConstantExpr& expression);
  ValueRef expand_aggregate(const llvm::Constant& aggregate);

  /// A record under construction. Its operands must have been lowered before: one record at a time.
  class Draft;
  void finish(const llvm::Instruction& instruction, Draft& draft);

  // ---- lower_instruction.cpp --------------------------------------------------------------------------------------
  void lower_instruction(const llvm::Instruction& instruction, const FunctionHeader& header);
  void lower_memory(const llvm::Instruction& instruction);
  void lower_arithmetic(const llvm::Instruction& instruction);
  void lower_aggregate(const llvm::Instruction& instruction);
  void lower_terminator(const llvm::Instruction& instruction, const FunctionHeader& header);
  void lower_call(const llvm::CallInst& call);
  bool call_is_writable(const llvm::CallInst& call);
  ValueRef negative_zero(llvm::Type* type);

  // ---- lower_debug.cpp --------------------------------------------------------------------------------------------
  void lower_debug_records(const llvm::Instruction& instruction);
  uint32_t location(const llvm::DILocation* location);
  Field metadata_operand(const llvm::Metadata* metadata);
  Field local_metadata(const llvm::ValueAsMetadata& metadata);
  Field argument_list(const llvm::DIArgList& list);

  const llvm::Module& module_;
  const LowerOptions options_;
  TypedModule& out_;
  TypeTable& types_;
  LowerStatistics statistics_;
  TypeId i8_ = 0, i32_ = 0;

  using ConstantKey = std::pair<const llvm::Constant*, uint64_t>;  // (constant, type and lanes)
  llvm::DenseMap<const llvm::Value*, ValueRef> globals_;
  llvm::DenseMap<const llvm::Function*, uint32_t> function_index_;
  llvm::DenseMap<ConstantKey, ValueRef> module_constants_;
  llvm::StringMap<uint32_t> debug_functions_;
  bool at_module_level_ = false;  // a constant for metadata, met inside a function
  unsigned depth_ = 0;            // of nested constants

  // Of the function being lowered
  Body* body_ = nullptr;
  llvm::DenseMap<const llvm::Value*, ValueRef> locals_;
  llvm::DenseMap<const llvm::BasicBlock*, uint32_t> block_index_;
  llvm::DenseMap<ConstantKey, ValueRef> body_constants_;
  llvm::DenseMap<std::pair<uint64_t, uint32_t>, ValueRef> views_;                  // (block, value), type
  llvm::DenseMap<std::pair<const llvm::Constant*, uint32_t>, ValueRef> expanded_;  // (constant, block)
  llvm::DenseMap<const llvm::Metadata*, uint32_t> local_metadata_;
  llvm::DenseMap<const llvm::DILocation*, uint32_t> locations_;
  std::vector<std::pair<const llvm::PHINode*, uint32_t>> phis_;  // and their records
  uint32_t block_ = 0;
  std::vector<uint32_t>* edge_ = nullptr;  // where records go while phis are lowered
  const llvm::Instruction* origin_ = nullptr;
};

class Lowering::Draft {
 public:
  Draft(Lowering& lowering, uint32_t code) : lowering_(lowering), index_(lowering.out_.records.size()) {
    Record record;
    record.code = code;
    record.first_field = static_cast<uint32_t>(lowering.out_.fields.size());
    record.origin = lowering.origin_;
    lowering.out_.records.push_back(record);
    if (lowering.edge_) lowering.edge_->push_back(static_cast<uint32_t>(index_));
  }
  Draft& literal(uint64_t value) { return add(Field::literal, static_cast<uint32_t>(value)); }
  Draft& flags(uint32_t value) { return value ? literal(value) : *this; }
  Draft& relative(ValueRef value) { return add(Field::relative, value); }
  Draft& typed(ValueRef value) { return add(Field::relative_typed, value); }
  Draft& absolute(ValueRef value) { return add(Field::absolute, value); }
  Draft& field(Field value) { return add(value.kind, value.value); }
  void result(ValueRef value) { record().result = value; }
  Record& record() { return lowering_.out_.records[index_]; }
  uint32_t index() const { return static_cast<uint32_t>(index_); }

 private:
  Draft& add(Field::Kind kind, uint32_t value) {
    lowering_.out_.fields.push_back({kind, value});
    ++record().field_count;
    return *this;
  }
  Lowering& lowering_;
  size_t index_;
};

/// Pointer-to-pointer bitcasts mean nothing without pointees: looked through at every use. Code that is never reached
/// may hold a cycle of them, hence the limit; value_of() refuses what is left then.
inline bool is_no_op(const llvm::Value* value) {
  return llvm::isa<llvm::BitCastOperator>(value) && value->getType()->isPtrOrPtrVectorTy();
}
inline const llvm::Value* skip_no_op(const llvm::Value* value) {
  for (unsigned steps = 0; is_no_op(value) && steps < 4096; ++steps)
    value = llvm::cast<llvm::Operator>(value)->getOperand(0);
  return value;
}

}  // namespace smelt::aot::bitcode
