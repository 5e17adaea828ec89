// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One instruction, one record: operand order and the literals around them are docs/design/bitcode-writer.md section 6.
#include "bitcode/codes.hpp"
#include "bitcode/lowering.hpp"

#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/IR/IntrinsicInst.h"

namespace smelt::aot::bitcode {

namespace bitc = llvm::bitc;
using llvm::Instruction;

void Lowering::lower_instruction(const Instruction& instruction, const FunctionHeader& header) {
  if (instruction.isTerminator()) return lower_terminator(instruction, header);
  if (instruction.isBinaryOp()) return lower_arithmetic(instruction);
  switch (instruction.getOpcode()) {
    case Instruction::Alloca:
    case Instruction::Load:
    case Instruction::Store:
    case Instruction::GetElementPtr:
    case Instruction::Fence:
    case Instruction::AtomicCmpXchg:
    case Instruction::AtomicRMW:
      return lower_memory(instruction);
    case Instruction::FNeg:
    case Instruction::Freeze:
    case Instruction::ICmp:
    case Instruction::FCmp:
    case Instruction::Select:
      return lower_arithmetic(instruction);
    case Instruction::ExtractElement:
    case Instruction::InsertElement:
    case Instruction::ShuffleVector:
    case Instruction::ExtractValue:
    case Instruction::InsertValue:
      return lower_aggregate(instruction);
    case Instruction::Call:
      return lower_call(llvm::cast<llvm::CallInst>(instruction));
    default:
      break;
  }
  if (const auto code = cast_code(instruction.getOpcode())) {
    const ValueRef operand = use(instruction.getOperand(0));
    Draft record(*this, bitc::FUNC_CODE_INST_CAST);
    record.typed(operand).literal(types_.of(instruction.getType())).literal(*code);
    return finish(instruction, record);
  }
  unsupported(fmt::format("'{}' cannot be written for AIR", instruction.getOpcodeName()));
}

void Lowering::lower_terminator(const Instruction& instruction, const FunctionHeader& header) {
  switch (instruction.getOpcode()) {
    case Instruction::Ret: {
      const llvm::Value* returned = llvm::cast<llvm::ReturnInst>(instruction).getReturnValue();
      const ValueRef value = returned ? use_as(returned, header.signature.result) : kNoValue;
      Draft record(*this, bitc::FUNC_CODE_INST_RET);
      if (returned) record.typed(value);
      return finish(instruction, record);
    }
    case Instruction::Br: {
      const auto& branch = llvm::cast<llvm::BranchInst>(instruction);
      const ValueRef condition = branch.isConditional() ? use(branch.getCondition()) : kNoValue;
      Draft record(*this, bitc::FUNC_CODE_INST_BR);
      record.literal(block_index_.lookup(branch.getSuccessor(0)));
      if (branch.isConditional()) record.literal(block_index_.lookup(branch.getSuccessor(1))).relative(condition);
      return finish(instruction, record);
    }
    case Instruction::Switch: {
      const auto& choice = llvm::cast<llvm::SwitchInst>(instruction);
      const ValueRef condition = use(choice.getCondition());
      llvm::SmallVector<std::pair<ValueRef, uint32_t>, 16> cases;
      for (const auto& one : choice.cases())
        cases.emplace_back(constant(one.getCaseValue(), type_of(condition)),
                           block_index_.lookup(one.getCaseSuccessor()));
      Draft record(*this, bitc::FUNC_CODE_INST_SWITCH);
      record.literal(type_of(condition)).relative(condition).literal(block_index_.lookup(choice.getDefaultDest()));
      for (const auto& [value, target] : cases) record.absolute(value).literal(target);
      return finish(instruction, record);
    }
    case Instruction::Unreachable: {
      Draft record(*this, bitc::FUNC_CODE_INST_UNREACHABLE);
      return finish(instruction, record);
    }
    default:  // invoke, indirectbr, callbr, resume, the funclets
      return unsupported(fmt::format("'{}' cannot be written for AIR", instruction.getOpcodeName()));
  }
}

// ---- memory ---------------------------------------------------------------------------------------------------------

void Lowering::lower_memory(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::Alloca: {
      const auto& local = llvm::cast<llvm::AllocaInst>(instruction);
      if (local.isSwiftError()) return unsupported("swifterror");
      if (local.getAddressSpace() != module_.getDataLayout().getAllocaAddrSpace())
        return unsupported("alloca outside the data layout's alloca address space");
      const ValueRef count = use(local.getArraySize());
      const uint64_t align = align_code(local.getAlign());
      // Bits 0 to 4 the low part of the alignment, 5 inalloca, 6 explicit type, from 8 on the high part.
      const uint64_t packed =
          (align & 31) | static_cast<uint64_t>(local.isUsedWithInAlloca()) << 5 | uint64_t{1} << 6 | (align >> 5) << 8;
      Draft record(*this, bitc::FUNC_CODE_INST_ALLOCA);
      record.literal(types_.of(local.getAllocatedType())).literal(type_of(count)).absolute(count).literal(packed);
      return finish(instruction, record);
    }
    case Instruction::Load: {
      const auto& load = llvm::cast<llvm::LoadInst>(instruction);
      const ValueRef pointer = use_as_pointer_to(load.getPointerOperand(), load.getType());
      Draft record(*this, load.isAtomic() ? bitc::FUNC_CODE_INST_LOADATOMIC : bitc::FUNC_CODE_INST_LOAD);
      record.typed(pointer).literal(types_.of(load.getType()));
      record.literal(align_code(load.getAlign())).literal(load.isVolatile());
      if (load.isAtomic()) record.literal(ordering_code(load.getOrdering())).literal(load.getSyncScopeID());
      return finish(instruction, record);
    }
    case Instruction::Store: {
      const auto& store = llvm::cast<llvm::StoreInst>(instruction);
      const ValueRef value = use(store.getValueOperand());
      const ValueRef pointer = use_as_pointer_to(store.getPointerOperand(), store.getValueOperand()->getType());
      Draft record(*this, store.isAtomic() ? bitc::FUNC_CODE_INST_STOREATOMIC : bitc::FUNC_CODE_INST_STORE);
      record.typed(pointer).typed(value).literal(align_code(store.getAlign())).literal(store.isVolatile());
      if (store.isAtomic()) record.literal(ordering_code(store.getOrdering())).literal(store.getSyncScopeID());
      return finish(instruction, record);
    }
    case Instruction::GetElementPtr: {
      const auto& gep = llvm::cast<llvm::GetElementPtrInst>(instruction);
      llvm::SmallVector<ValueRef, 8> operands{use_as_pointer_to(gep.getPointerOperand(), gep.getSourceElementType())};
      for (const llvm::Use& index : gep.indices()) operands.push_back(use(index.get()));
      Draft record(*this, bitc::FUNC_CODE_INST_GEP);
      record.literal(gep.isInBounds()).literal(types_.of(gep.getSourceElementType()));
      for (const ValueRef operand : operands) record.typed(operand);
      return finish(instruction, record);
    }
    case Instruction::Fence: {
      const auto& fence = llvm::cast<llvm::FenceInst>(instruction);
      Draft record(*this, bitc::FUNC_CODE_INST_FENCE);
      record.literal(ordering_code(fence.getOrdering())).literal(fence.getSyncScopeID());
      return finish(instruction, record);
    }
    case Instruction::AtomicCmpXchg: {
      const auto& exchange = llvm::cast<llvm::AtomicCmpXchgInst>(instruction);
      const ValueRef pointer = use_as_pointer_to(exchange.getPointerOperand(), exchange.getCompareOperand()->getType());
      const ValueRef expected = use(exchange.getCompareOperand()), desired = use(exchange.getNewValOperand());
      Draft record(*this, bitc::FUNC_CODE_INST_CMPXCHG);
      record.typed(pointer).typed(expected).relative(desired).literal(exchange.isVolatile());
      record.literal(ordering_code(exchange.getSuccessOrdering())).literal(exchange.getSyncScopeID());
      record.literal(ordering_code(exchange.getFailureOrdering())).literal(exchange.isWeak());
      record.literal(align_code(exchange.getAlign()));
      return finish(instruction, record);
    }
    case Instruction::AtomicRMW: {
      const auto& update = llvm::cast<llvm::AtomicRMWInst>(instruction);
      const auto operation = atomic_operation_code(update.getOperation());
      if (!operation) {
        return unsupported(fmt::format("atomicrmw {}, which LLVM 14 does not have",
                                       llvm::AtomicRMWInst::getOperationName(update.getOperation()).str()));
      }
      const ValueRef pointer = use_as_pointer_to(update.getPointerOperand(), update.getValOperand()->getType());
      const ValueRef value = use(update.getValOperand());
      Draft record(*this, bitc::FUNC_CODE_INST_ATOMICRMW);
      record.typed(pointer).typed(value).literal(*operation).literal(update.isVolatile());
      record.literal(ordering_code(update.getOrdering())).literal(update.getSyncScopeID());
      record.literal(align_code(update.getAlign()));
      return finish(instruction, record);
    }
    default:
      return;
  }
}

// ---- arithmetic -----------------------------------------------------------------------------------------------------

ValueRef Lowering::negative_zero(llvm::Type* type) {
  return constant(llvm::ConstantFP::getNegativeZero(type), types_.of(type));
}

void Lowering::lower_arithmetic(const Instruction& instruction) {
  const uint32_t flags = flags_of(instruction);
  switch (instruction.getOpcode()) {
    case Instruction::FNeg: {
      const ValueRef operand = use(instruction.getOperand(0));
      if (options_.below_air_2_6) {  // no UNOP record there
        const ValueRef zero = negative_zero(instruction.getType());
        Draft record(*this, bitc::FUNC_CODE_INST_BINOP);
        record.typed(zero).relative(operand).literal(bitc::BINOP_SUB).flags(flags);
        return finish(instruction, record);
      }
      Draft record(*this, bitc::FUNC_CODE_INST_UNOP);
      record.typed(operand).literal(bitc::UNOP_FNEG).flags(flags);
      return finish(instruction, record);
    }
    case Instruction::Freeze: {
      const ValueRef operand = use(instruction.getOperand(0));
      Draft record(*this, bitc::FUNC_CODE_INST_FREEZE);
      record.typed(operand);
      return finish(instruction, record);
    }
    case Instruction::ICmp:
    case Instruction::FCmp: {
      const ValueRef left = use(instruction.getOperand(0)), right = use(instruction.getOperand(1));
      Draft record(*this, bitc::FUNC_CODE_INST_CMP2);
      record.typed(left).relative(right).literal(llvm::cast<llvm::CmpInst>(instruction).getPredicate()).flags(flags);
      return finish(instruction, record);
    }
    case Instruction::Select: {
      const ValueRef yes = use(instruction.getOperand(1)), no = use(instruction.getOperand(2));
      const ValueRef condition = use(instruction.getOperand(0));
      Draft record(*this, bitc::FUNC_CODE_INST_VSELECT);
      record.typed(yes).relative(no).typed(condition).flags(options_.below_air_2_6 ? 0 : flags);
      return finish(instruction, record);
    }
    default: {
      const auto code = binary_code(instruction.getOpcode());
      if (!code) return unsupported(fmt::format("'{}'", instruction.getOpcodeName()));
      const ValueRef left = use(instruction.getOperand(0)), right = use(instruction.getOperand(1));
      Draft record(*this, bitc::FUNC_CODE_INST_BINOP);
      record.typed(left).relative(right).literal(*code).flags(flags);
      return finish(instruction, record);
    }
  }
}

// ---- vectors and aggregates -----------------------------------------------------------------------------------------

void Lowering::lower_aggregate(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::ExtractElement: {
      const ValueRef vector = use(instruction.getOperand(0)), index = use(instruction.getOperand(1));
      Draft record(*this, bitc::FUNC_CODE_INST_EXTRACTELT);
      record.typed(vector).typed(index);
      return finish(instruction, record);
    }
    case Instruction::InsertElement: {
      const ValueRef vector = use(instruction.getOperand(0)), element = use(instruction.getOperand(1));
      const ValueRef index = use(instruction.getOperand(2));
      Draft record(*this, bitc::FUNC_CODE_INST_INSERTELT);
      record.typed(vector).relative(element).typed(index);
      return finish(instruction, record);
    }
    case Instruction::ShuffleVector: {
      const auto& shuffle = llvm::cast<llvm::ShuffleVectorInst>(instruction);
      const ValueRef left = use(shuffle.getOperand(0)), right = use(shuffle.getOperand(1));
      const llvm::Constant* mask = shuffle.getShuffleMaskForBitcode();
      // Free lanes are undef: older AIR has no POISON record, and to a shuffle it is the same.
      const ValueRef lanes = constant(mask, types_.of(mask->getType()), Lanes::poison_as_undef);
      Draft record(*this, bitc::FUNC_CODE_INST_SHUFFLEVEC);
      record.typed(left).relative(right).typed(lanes);
      return finish(instruction, record);
    }
    case Instruction::ExtractValue: {
      const ValueRef aggregate = use(instruction.getOperand(0));
      Draft record(*this, bitc::FUNC_CODE_INST_EXTRACTVAL);
      record.typed(aggregate);
      for (const unsigned index : llvm::cast<llvm::ExtractValueInst>(instruction).indices()) record.literal(index);
      return finish(instruction, record);
    }
    case Instruction::InsertValue: {
      const ValueRef aggregate = use(instruction.getOperand(0)), element = use(instruction.getOperand(1));
      Draft record(*this, bitc::FUNC_CODE_INST_INSERTVAL);
      record.typed(aggregate).typed(element);
      for (const unsigned index : llvm::cast<llvm::InsertValueInst>(instruction).indices()) record.literal(index);
      return finish(instruction, record);
    }
    default:
      return;
  }
}

// ---- calls ----------------------------------------------------------------------------------------------------------

bool Lowering::call_is_writable(const llvm::CallInst& call) {
  if (call.isInlineAsm()) {
    unsupported("inline assembly");
    return false;
  }
  if (call.hasOperandBundles() && !llvm::isa<llvm::AssumeInst>(call)) {  // an assumption's bundles are hints
    unsupported("operand bundles");
    return false;
  }
  return true;
}

void Lowering::lower_call(const llvm::CallInst& call) {
  if (!options_.keep_debug && llvm::isa<llvm::DbgInfoIntrinsic>(call)) return;
  if (!call_is_writable(call)) return;
  const llvm::Function* target = direct_callee(call);
  Signature indirect;
  if (!target) indirect = signature_of_call(call);
  const Signature& signature = target ? out_.functions[function_index_.lookup(target)].signature : indirect;
  const TypeId function_type = signature.function;
  const ValueRef callee =
      target ? globals_.lookup(target)
             : use_as(call.getCalledOperand(),
                      types_.pointer(function_type, call.getCalledOperand()->getType()->getPointerAddressSpace()));
  llvm::SmallVector<Field, 8> arguments;
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    const llvm::Value* argument = call.getArgOperand(i);
    if (const auto* wrapped = llvm::dyn_cast<llvm::MetadataAsValue>(argument)) {
      arguments.push_back(metadata_operand(wrapped->getMetadata()));
    } else if (i < signature.parameters.size()) {
      arguments.push_back({Field::relative, use_as(argument, signature.parameters[i])});
    } else {
      arguments.push_back({Field::relative_typed, use(argument)});
    }
  }
  const uint32_t flags = flags_of(call);
  Draft record(*this, bitc::FUNC_CODE_INST_CALL);
  record.literal(out_.attributes.list(call.getAttributes())).literal(call_word(call, flags != 0)).flags(flags);
  record.literal(function_type).typed(callee);
  for (const Field& argument : arguments) record.field(argument);
  finish(call, record);
}

}  // namespace smelt::aot::bitcode
