// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Debug info inside functions: line locations, and LLVM 19's debug records as the llvm.dbg.* calls that LLVM 14 has.
#include "bitcode/lowering.hpp"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/IR/DebugInfoMetadata.h"

namespace smelt::aot::bitcode {

namespace bitc = llvm::bitc;

uint32_t Lowering::location(const llvm::DILocation* location) {
  auto [at, fresh] = locations_.try_emplace(location, static_cast<uint32_t>(out_.locations.size()));
  if (fresh) {
    const MetadataRef scope = metadata(location->getRawScope()), inlined_at = metadata(location->getRawInlinedAt());
    out_.locations.push_back(
        {location->getLine(), location->getColumn(), scope, inlined_at, location->isImplicitCode()});
  }
  return at->second;
}

namespace {

// Operations of DWARF expressions that LLVM 14 does not have; its verifier refuses the expression.
bool fits_llvm_14(const llvm::DIExpression& expression) {
  constexpr uint64_t kFirstNewer = llvm::dwarf::DW_OP_LLVM_arg + 1, kLastOwn = 0x10ff;
  for (const auto& operation : expression.expr_ops())
    if (operation.getOp() >= kFirstNewer && operation.getOp() <= kLastOwn) return false;
  return expression.isValid();
}

}  // namespace

Field Lowering::local_metadata(const llvm::ValueAsMetadata& metadata) {
  auto [at, fresh] = local_metadata_.try_emplace(&metadata, static_cast<uint32_t>(body_->local_metadata.size()));
  if (fresh) {
    body_->local_metadata.emplace_back();
    const llvm::Value* value = resolve(metadata.getValue());
    const auto* fixed = llvm::dyn_cast<llvm::Constant>(value);
    body_->local_metadata.back().value = fixed ? constant(fixed, types_.of(fixed->getType())) : value_of(value);
  }
  return {Field::local_metadata, at->second};
}

Field Lowering::argument_list(const llvm::DIArgList& list) {
  std::vector<Field> arguments;
  for (const llvm::ValueAsMetadata* argument : list.getArgs()) arguments.push_back(metadata_operand(argument));
  auto [at, fresh] = local_metadata_.try_emplace(&list, static_cast<uint32_t>(body_->local_metadata.size()));
  if (fresh) body_->local_metadata.push_back({kNoValue, std::move(arguments)});
  return {Field::local_metadata, at->second};
}

Field Lowering::metadata_operand(const llvm::Metadata* operand) {
  if (const auto* local = llvm::dyn_cast<llvm::LocalAsMetadata>(operand)) return local_metadata(*local);
  if (const auto* list = llvm::dyn_cast<llvm::DIArgList>(operand)) return argument_list(*list);
  const MetadataRef ref = metadata(operand);
  if (ref == 0) unsupported("a metadata operand that LLVM 14 has no record for");
  return {Field::metadata, ref};
}

// A record stands before the instruction that it is attached to. Assignment tracking (LLVM 17) comes out as plain
// values.
void Lowering::lower_debug_records(const llvm::Instruction& instruction) {
  for (const llvm::DbgRecord& record : instruction.getDbgRecordRange()) {
    llvm::SmallVector<Field, 3> operands;
    const char* name = nullptr;
    if (const auto* label = llvm::dyn_cast<llvm::DbgLabelRecord>(&record)) {
      name = "llvm.dbg.label";
      operands.push_back(metadata_operand(label->getLabel()));
    } else {
      const auto& variable = llvm::cast<llvm::DbgVariableRecord>(record);
      if (!fits_llvm_14(*variable.getExpression())) continue;  // the debugger sees one value less
      name =
          variable.getType() == llvm::DbgVariableRecord::LocationType::Declare ? "llvm.dbg.declare" : "llvm.dbg.value";
      operands.push_back(metadata_operand(variable.getRawLocation()));
      operands.push_back(metadata_operand(variable.getVariable()));
      operands.push_back(metadata_operand(variable.getExpression()));
    }
    const ValueRef callee = declare_debug_function(name, static_cast<unsigned>(operands.size()));
    Draft draft(*this, bitc::FUNC_CODE_INST_CALL);
    draft.literal(0).literal(uint64_t{1} << bitc::CALL_EXPLICIT_TYPE);
    draft.literal(types_.pointee(type_of(callee))).typed(callee);
    for (const Field& operand : operands) draft.field(operand);
    if (const auto* place = record.getDebugLoc().get()) draft.record().location = location(place);
  }
}

}  // namespace smelt::aot::bitcode
