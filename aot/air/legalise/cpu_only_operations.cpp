// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With LegaliseOptions::cpu_only: doubles become their bits, and what is computed of them, and atomics of 64 bits,
// become calls of the functions of kernel_ir/cpu_only.hpp. Without, reject_double and atomics have the last word.
//
//   %z = fmul <2 x double> %x, %y   ->   two calls of smelt.cpu.f64.mul over the elements' bits
//   %p = phi double ...             ->   %p = phi i64 ...
//
// First what computes gets calls between casts from and to double; then every type that holds a double holds an i64,
// and the casts are nothing.
#include "kernel_ir/cpu_only.hpp"
#include "legalise/support.hpp"
#include "legalise/type_names.hpp"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace smelt::aot::air {
namespace {

using Builder = llvm::IRBuilder<>;
using llvm::Instruction;
using llvm::Value;

bool is_double(const llvm::Type* type) {
  return type->getScalarType()->isDoubleTy();
}

/// Types with i64 for double.
class BitTypes final : public llvm::ValueMapTypeRemapper {
 public:
  llvm::Type* remapType(llvm::Type* type) override {
    if (type->isPointerTy() || !wide_float_in(type)) return type;
    if (type->isDoubleTy()) return llvm::Type::getInt64Ty(type->getContext());
    if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
      return llvm::FixedVectorType::get(remapType(vector->getElementType()), vector->getNumElements());
    if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type))
      return llvm::ArrayType::get(remapType(array->getElementType()), array->getNumElements());
    auto* record = llvm::dyn_cast<llvm::StructType>(type);
    if (!record) return type;  // wider floats: reject_double says so
    llvm::SmallVector<llvm::Type*, 4> members;
    for (llvm::Type* member : record->elements()) members.push_back(remapType(member));
    return llvm::StructType::get(type->getContext(), members, record->isPacked());
  }
};

/// Constants that hold doubles, as their bits.
class BitConstants final : public llvm::ValueMaterializer {
 public:
  explicit BitConstants(BitTypes& types) : types_(types) {}

  Value* materialize(Value* value) override {
    auto* const constant = llvm::dyn_cast<llvm::Constant>(value);
    if (!constant || llvm::isa<llvm::GlobalValue>(constant)) return nullptr;
    llvm::Type* const type = types_.remapType(constant->getType());
    return type == constant->getType() ? nullptr : bits_of(*constant, type);
  }

  llvm::Constant* bits_of(llvm::Constant& constant, llvm::Type* type) {
    if (type == constant.getType()) return &constant;
    if (const auto* number = llvm::dyn_cast<llvm::ConstantFP>(&constant))
      return llvm::ConstantInt::get(type, number->getValueAPF().bitcastToAPInt());
    if (llvm::isa<llvm::PoisonValue>(constant)) return llvm::PoisonValue::get(type);
    if (llvm::isa<llvm::UndefValue>(constant)) return llvm::UndefValue::get(type);
    if (constant.isNullValue()) return llvm::Constant::getNullValue(type);
    llvm::SmallVector<llvm::Constant*, 8> members;
    for (unsigned i = 0; llvm::Constant* const member = constant.getAggregateElement(i); ++i)
      members.push_back(bits_of(*member, types_.remapType(member->getType())));
    if (members.empty()) return llvm::ConstantExpr::getBitCast(&constant, type);
    if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) return llvm::ConstantArray::get(array, members);
    if (auto* record = llvm::dyn_cast<llvm::StructType>(type)) return llvm::ConstantStruct::get(record, members);
    return llvm::ConstantVector::get(members);
  }

 private:
  BitTypes& types_;
};

/// The operation that a function over doubles is: of LLVM, or air.NAME.f64 of a reader.
std::string operation_of(const llvm::Function& callee) {
  llvm::StringRef name = callee.getName();
  if (!name.consume_front("llvm.") && !name.consume_front("air.")) return {};
  name = name.take_until([](char c) { return c == '.'; });
  if (name == "fmuladd" || name == "mad") return "fma";
  if (name == "nearbyint") return "rint";
  if (name == "fmax") return "maxnum";
  if (name == "fmin") return "minnum";
  return name.str();
}

bool touches_double(const Instruction& instruction) {
  return is_double(instruction.getType()) ||
         llvm::any_of(instruction.operands(), [](const llvm::Use& use) { return is_double(use->getType()); });
}

class CpuOnlyLowering {
 public:
  explicit CpuOnlyLowering(PassContext& context) : module_(context.module), context_(context.module.getContext()) {}

  Result<void> run() {
    for (Instruction* instruction : instructions_of(module_))
      if (instruction->isAtomic()) lower_atomic(*instruction);
    for (Instruction* instruction : instructions_of(module_))
      if (touches_double(*instruction)) SMELT_TRY_VOID(compute_by_call(*instruction));
    retype();
    if (any_) kernel_ir::mark_cpu_only(module_);
    return {};
  }

 private:
  llvm::FunctionCallee function(const std::string& name, llvm::FunctionType* type, bool is_pure) {
    any_ = true;
    llvm::FunctionCallee callee = module_.getOrInsertFunction(name, type);
    auto* const made = llvm::cast<llvm::Function>(callee.getCallee());
    made->setDoesNotThrow();
    if (is_pure) made->setDoesNotAccessMemory();
    return callee;
  }

  // ---- Atomics of 64 bits ------------------------------------------------------------------------------------------

  Value* atomic(Builder& b, llvm::StringRef operation, Value* pointer, llvm::Type* result,
                llvm::ArrayRef<Value*> values) {
    llvm::SmallVector<Value*, 3> operands{pointer};
    llvm::SmallVector<llvm::Type*, 3> types{pointer->getType()};
    for (Value* value : values) {
      operands.push_back(b.CreateBitCast(value, b.getInt64Ty()));
      types.push_back(b.getInt64Ty());
    }
    const std::string name = fmt::format("{}{}.{}", llvm::StringRef(kernel_ir::kWideAtomicPrefix), operation,
                                         pointer->getType()->getPointerAddressSpace());
    const bool is_void = result->isVoidTy();
    Value* const call = b.CreateCall(
        function(name, llvm::FunctionType::get(is_void ? result : b.getInt64Ty(), types, false), false), operands);
    return is_void ? call : b.CreateBitCast(call, result);
  }

  void lower_atomic(Instruction& instruction) {
    const Value* const pointer = llvm::getLoadStorePointerOperand(&instruction);
    Builder b(&instruction);
    const auto is_wide = [&](const Value* at, const llvm::Type* type) {
      const unsigned space = at->getType()->getPointerAddressSpace();
      return (space == kDevice || space == kThreadgroup) && (type->isIntegerTy(64) || type->isDoubleTy());
    };
    Value* result = nullptr;
    if (auto* rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      if (!is_wide(rmw->getPointerOperand(), rmw->getType())) {
        if (rmw->getType()->isDoubleTy()) llvm::lowerAtomicRMWInst(rmw);  // a thread's own memory
        return;
      }
      result = atomic(b, llvm::AtomicRMWInst::getOperationName(rmw->getOperation()), rmw->getPointerOperand(),
                      rmw->getType(), {rmw->getValOperand()});
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      Value* const expected = exchange->getCompareOperand();
      if (!is_wide(exchange->getPointerOperand(), expected->getType())) return;
      Value* const seen = atomic(b, "cmpxchg", exchange->getPointerOperand(), expected->getType(),
                                 {expected, exchange->getNewValOperand()});
      result = b.CreateInsertValue(llvm::PoisonValue::get(exchange->getType()), seen, 0);
      result = b.CreateInsertValue(result, b.CreateICmpEQ(seen, expected), 1);
    } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      if (!is_wide(pointer, load->getType())) return;
      result = atomic(b, "load", load->getPointerOperand(), load->getType(), {});
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      if (!is_wide(pointer, store->getValueOperand()->getType())) return;
      atomic(b, "store", store->getPointerOperand(), b.getVoidTy(), {store->getValueOperand()});
    } else {
      return;  // a fence
    }
    if (result) instruction.replaceAllUsesWith(result);
    instruction.eraseFromParent();
  }

  // ---- What is computed of doubles ---------------------------------------------------------------------------------

  /// The operation over plain values; doubles among them as doubles.
  Value* operate(Builder& b, const kernel_ir::DoubleOperation& operation, llvm::ArrayRef<Value*> operands) {
    llvm::SmallVector<Value*, 3> bits;
    for (Value* operand : operands)
      bits.push_back(is_double(operand->getType()) ? b.CreateBitCast(operand, b.getInt64Ty()) : operand);
    Value* const call =
        b.CreateCall(function(fmt::format("{}{}", llvm::StringRef(kernel_ir::kDoublePrefix), operation.name),
                              kernel_ir::function_type(operation, context_), true),
                     bits);
    return operation.types[0] == 'd' ? b.CreateBitCast(call, b.getDoubleTy()) : call;
  }
  Value* operate(Builder& b, std::string_view operation, llvm::ArrayRef<Value*> operands) {
    return operate(b, *kernel_ir::find_double_operation(operation), operands);
  }

  /// One element of the result, from the elements of the operands; null when there is no such operation.
  Value* element(Builder& b, Instruction& instruction, llvm::ArrayRef<Value*> of) {
    switch (instruction.getOpcode()) {
      case Instruction::FNeg:
        return operate(b, "neg", of);
      case Instruction::FAdd:
        return operate(b, "add", of);
      case Instruction::FSub:
        return operate(b, "sub", of);
      case Instruction::FMul:
        return operate(b, "mul", of);
      case Instruction::FDiv:
        return operate(b, "div", of);
      case Instruction::FRem:
        return operate(b, "fmod", of);
      case Instruction::FCmp:
        return comparison(b, llvm::cast<llvm::FCmpInst>(instruction).getPredicate(), of);
      case Instruction::Call:
        return call(b, llvm::cast<llvm::CallInst>(instruction), of);
      default:
        return conversion(b, instruction, of[0]);
    }
  }

  Value* comparison(Builder& b, llvm::CmpInst::Predicate predicate, llvm::ArrayRef<Value*> of) {
    if (predicate == llvm::CmpInst::FCMP_TRUE || predicate == llvm::CmpInst::FCMP_FALSE)
      return b.getInt1(predicate == llvm::CmpInst::FCMP_TRUE);
    return operate(b, llvm::CmpInst::getPredicateName(predicate), of);
  }

  Value* conversion(Builder& b, const Instruction& instruction, Value* from) {
    llvm::Type* const to = instruction.getType()->getScalarType();
    const auto float_name = [](const llvm::Type* type) {
      return type->isHalfTy() ? "f16" : type->isBFloatTy() ? "bf16" : type->isFloatTy() ? "f32" : "";
    };
    const auto known = [&](const std::string& name) -> Value* {
      const kernel_ir::DoubleOperation* const operation = kernel_ir::find_double_operation(name);
      return operation ? operate(b, *operation, {from}) : nullptr;
    };
    const auto integer = [&](bool is_signed, const llvm::Type* type, const char* way) -> Value* {
      const unsigned width = type->getIntegerBitWidth() <= 32 ? 32 : 64;
      if (type->getIntegerBitWidth() > 64) return nullptr;
      const std::string name = fmt::format("{}_{}{}", way, is_signed ? 's' : 'u', width);
      llvm::Type* const passed = b.getIntNTy(width);
      if (std::string_view(way) == "to") return b.CreateZExtOrTrunc(known(name), to);
      from = is_signed ? b.CreateSExt(from, passed) : b.CreateZExt(from, passed);
      return known(name);
    };
    switch (instruction.getOpcode()) {
      case Instruction::FPExt:
        return known(fmt::format("from_{}", float_name(from->getType())));
      case Instruction::FPTrunc:
        return known(fmt::format("to_{}", float_name(to)));
      case Instruction::SIToFP:
        return integer(true, from->getType(), "from");
      case Instruction::UIToFP:
        return integer(false, from->getType(), "from");
      case Instruction::FPToSI:
        return integer(true, to, "to");
      case Instruction::FPToUI:
        return integer(false, to, "to");
      default:
        return nullptr;
    }
  }

  Value* call(Builder& b, llvm::CallInst& instruction, llvm::ArrayRef<Value*> of) {
    const llvm::Function* const callee = instruction.getCalledFunction();
    if (!callee) return nullptr;
    switch (callee->getIntrinsicID()) {
      case llvm::Intrinsic::is_fpclass:
        return operate(b, "class", of);
      case llvm::Intrinsic::canonicalize:
        return of[0];
      case llvm::Intrinsic::powi:
        return operate(b, "pow", {of[0], operate(b, "from_s32", {b.CreateSExtOrTrunc(of[1], b.getInt32Ty())})});
      case llvm::Intrinsic::ldexp:
        return operate(b, "ldexp", {of[0], b.CreateSExtOrTrunc(of[1], b.getInt32Ty())});
      case llvm::Intrinsic::fptosi_sat:
      case llvm::Intrinsic::fptoui_sat:
        return saturated(b, instruction.getType()->getScalarType(), of[0],
                         callee->getIntrinsicID() == llvm::Intrinsic::fptosi_sat);
      default:
        break;
    }
    const kernel_ir::DoubleOperation* const operation = kernel_ir::find_double_operation(operation_of(*callee));
    if (!operation || operation->types.size() != of.size() + 1 || !is_double(instruction.getType())) return nullptr;
    return operate(b, *operation, of);
  }

  /// The 64-bit conversion saturates by itself; narrower integers are reached by a clamp behind it.
  Value* saturated(Builder& b, llvm::Type* type, Value* from, bool is_signed) {
    const unsigned width = type->getIntegerBitWidth();
    if (width > 64) return nullptr;
    Value* const wide = operate(b, is_signed ? "to_s64" : "to_u64", {from});
    if (width == 64) return wide;
    const auto limit = [&](const llvm::APInt& value) { return b.getInt(is_signed ? value.sext(64) : value.zext(64)); };
    if (!is_signed)
      return b.CreateTrunc(b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, wide, limit(llvm::APInt::getMaxValue(width))),
                           type);
    Value* const above =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, wide, limit(llvm::APInt::getSignedMinValue(width)));
    return b.CreateTrunc(
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, above, limit(llvm::APInt::getSignedMaxValue(width))), type);
  }

  static bool computes(const Instruction& instruction) {
    return instruction.isBinaryOp() || instruction.isUnaryOp() || llvm::isa<llvm::FCmpInst>(instruction) ||
           llvm::isa<llvm::CallInst>(instruction) ||
           (llvm::isa<llvm::CastInst>(instruction) && !llvm::isa<llvm::BitCastInst>(instruction));
  }

  Result<void> compute_by_call(Instruction& instruction) {
    if (!computes(instruction)) return {};
    Builder b(&instruction);
    const auto* const call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const unsigned count = call ? call->arg_size() : instruction.getNumOperands();
    if (call && call->getIntrinsicID() == llvm::Intrinsic::frexp) return take_apart(b, instruction);
    const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
    Value* result = vector ? llvm::PoisonValue::get(instruction.getType()) : nullptr;
    for (unsigned lane = 0; lane < (vector ? vector->getNumElements() : 1); ++lane) {
      llvm::SmallVector<Value*, 3> of;
      for (unsigned i = 0; i < count; ++i) {
        Value* const operand = instruction.getOperand(i);
        of.push_back(vector && operand->getType()->isVectorTy() ? b.CreateExtractElement(operand, lane) : operand);
      }
      Value* const made = element(b, instruction, of);
      if (!made) return refuse(instruction, "there is no such operation on double in CPU code");
      result = vector ? b.CreateInsertElement(result, made, lane) : made;
    }
    instruction.replaceAllUsesWith(result);
    instruction.eraseFromParent();
    return {};
  }

  /// llvm.frexp: the two results by themselves.
  Result<void> take_apart(Builder& b, Instruction& instruction) {
    Value* const number = instruction.getOperand(0);
    if (number->getType()->isVectorTy()) return refuse(instruction, "there is no frexp of a vector of doubles");
    Value* const exponent =
        b.CreateSExtOrTrunc(operate(b, "frexp_exponent", {number}), instruction.getType()->getStructElementType(1));
    Value* pair = llvm::PoisonValue::get(instruction.getType());
    pair = b.CreateInsertValue(pair, operate(b, "frexp_fraction", {number}), 0);
    instruction.replaceAllUsesWith(b.CreateInsertValue(pair, exponent, 1));
    instruction.eraseFromParent();
    return {};
  }

  // ---- Doubles that only move --------------------------------------------------------------------------------------

  void retype() {
    BitTypes types;
    BitConstants constants(types);
    llvm::ValueToValueMapTy map;
    retype_globals(types, constants);
    for (Instruction* instruction : instructions_of(module_)) {
      if (llvm::isa<llvm::FPMathOperator>(instruction) && is_double(instruction->getType())) {
        instruction->copyFastMathFlags(llvm::FastMathFlags());
        any_ = true;
      }
      any_ = any_ || wide_float_in(instruction->getType());
      llvm::RemapInstruction(instruction, map, llvm::RF_IgnoreMissingLocals | llvm::RF_NoModuleLevelChanges, &types,
                             &constants);
    }
    for (Instruction* instruction : instructions_of(module_))
      if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(instruction); cast && cast->getSrcTy() == cast->getDestTy()) {
        cast->replaceAllUsesWith(cast->getOperand(0));
        cast->eraseFromParent();
      }
  }

  void retype_globals(BitTypes& types, BitConstants& constants) {
    std::vector<llvm::GlobalVariable*> globals;
    for (llvm::GlobalVariable& global : module_.globals())
      if (types.remapType(global.getValueType()) != global.getValueType()) globals.push_back(&global);
    for (llvm::GlobalVariable* global : globals) {
      llvm::Type* const type = types.remapType(global->getValueType());
      auto* const made = new llvm::GlobalVariable(
          module_, type, global->isConstant(), global->getLinkage(),
          global->hasInitializer() ? constants.bits_of(*global->getInitializer(), type) : nullptr, "", global,
          global->getThreadLocalMode(), global->getAddressSpace());
      made->copyAttributesFrom(global);
      made->takeName(global);
      global->replaceAllUsesWith(made);
      global->eraseFromParent();
    }
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  bool any_ = false;
};

}  // namespace

Result<void> cpu_only_operations(PassContext& context) {
  return context.options.cpu_only ? CpuOnlyLowering(context).run() : Result<void>();
}

}  // namespace smelt::aot::air
