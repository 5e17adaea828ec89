// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lanes/legal.hpp"

#include "lanes/arithmetic.hpp"
#include "lanes/memory.hpp"
#include "lower/collectives.hpp"
#include "work_item/lane_functions.hpp"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

namespace smelt::aot::cpu::lanes {
namespace {

constexpr unsigned kMostParts = 32;  // scalars in one thread's value

/// 32 lanes of more than this take minutes to compile.
constexpr unsigned kMostInstructions = 120000;

std::string text_of(const llvm::Instruction& instruction) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  instruction.print(stream);
  const size_t start = text.find_first_not_of(' ');
  text = text.substr(start == std::string::npos ? 0 : start);
  return text.size() > 120 ? text.substr(0, 117) + "..." : text;
}

class LegalityCheck {
 public:
  LegalityCheck(const Analysis& analysis, unsigned lanes, const llvm::DataLayout& layout)
      : analysis_(analysis), lanes_(lanes), layout_(layout) {}

  /// Why not, or empty.
  std::string check(llvm::Instruction& instruction) const;
  std::string check_branch(const Level& level, unsigned node) const;

 private:
  std::string check_value(llvm::Type* type) const;
  std::string check_memory(llvm::Instruction& instruction, llvm::Value* pointer, llvm::Type* type) const;
  std::string check_alloca(llvm::AllocaInst& memory) const;
  std::string check_call(llvm::CallInst& call) const;
  std::string check_intrinsic(llvm::IntrinsicInst& call) const;
  std::string check_matrix(llvm::Instruction& instruction) const;
  bool all_uniform(const llvm::User& user) const;
  Shape shape(const llvm::Value* value) const { return analysis_.shapes->of(value); }

  const Analysis& analysis_;
  unsigned lanes_;
  const llvm::DataLayout& layout_;
};

bool LegalityCheck::all_uniform(const llvm::User& user) const {
  return llvm::all_of(user.operands(), [&](const llvm::Use& use) {
    return llvm::isa<llvm::Function>(use) || llvm::isa<llvm::MetadataAsValue>(use) || shape(use).is_uniform();
  });
}

// A value that will have parts.
std::string LegalityCheck::check_value(llvm::Type* type) const {
  if (type->isVoidTy()) return {};
  if (!type->isSized() || type->isScalableTy()) return "a type without a fixed size";
  const LaneLayout layout = layout_of(type, layout_);
  if (layout.fields.empty() || layout.fields.size() > kMostParts) return "a value of too many scalars per thread";
  for (const LaneLayout::Field& field : layout.fields) {
    const bool is_number = field.type->isIntegerTy() && field.type->getIntegerBitWidth() <= 64;
    const bool is_float =
        field.type->isFloatTy() || field.type->isHalfTy() || field.type->isBFloatTy() || field.type->isDoubleTy();
    if (!is_number && !is_float && !field.type->isPointerTy()) return "a type that does not fit in a lane";
  }
  return {};
}

std::string LegalityCheck::check_memory(llvm::Instruction&, llvm::Value* pointer, llvm::Type* type) const {
  if (is_matrix_type(type)) return shape(pointer).is_uniform() ? "" : "a matrix in memory that is not the gang's";
  if (std::string reason = check_value(type); !reason.empty()) return reason;
  for (const LaneLayout::Field& field : layout_of(type, layout_).fields) {
    const unsigned bits = field.type->getScalarSizeInBits();
    if (field.type->isIntegerTy() && bits != 8 && bits != 16 && bits != 32 && bits != 64) {
      // A single i1 is a byte in memory; in vectors it is packed.
      if (bits != 1 || type->isVectorTy()) return "an integer of odd width in memory";
    }
  }
  return {};
}

std::string LegalityCheck::check_alloca(llvm::AllocaInst& memory) const {
  if (!memory.isStaticAlloca() || memory.isArrayAllocation()) return "private memory of unknown size";
  if (!shape(&memory).is_uniform()) return {};
  // Memory of the gang: nothing but whole matrices may go in and out.
  llvm::SmallVector<llvm::Instruction*, 8> work{&memory};
  while (!work.empty()) {
    llvm::Instruction* at = work.pop_back_val();
    for (llvm::User* user : at->users()) {
      auto* use = llvm::cast<llvm::Instruction>(user);
      if (llvm::isa<llvm::GetElementPtrInst>(use) && shape(use).is_uniform()) {
        work.push_back(use);
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(use)) {
        if (store->getPointerOperand() != at || !is_matrix_type(store->getValueOperand()->getType())) {
          return "a matrix in memory taken apart";
        }
      } else if (!(llvm::isa<llvm::LoadInst>(use) && is_matrix_type(use->getType())) && !use->isLifetimeStartOrEnd()) {
        return "a matrix in memory taken apart";
      }
    }
  }
  return {};
}

std::string LegalityCheck::check_matrix(llvm::Instruction& instruction) const {
  if (llvm::isa<llvm::PHINode>(instruction) || llvm::isa<llvm::FreezeInst>(instruction)) return {};
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    return select->getCondition()->getType()->isVectorTy() ? "a choice between elements of matrices" : "";
  }
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    return check_memory(*load, load->getPointerOperand(), load->getType());
  }
  if (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(&instruction)) {
    const auto* slot = llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
    return slot && slot->getZExtValue() < 2 ? "" : "an element of a matrix that is not the thread's own";
  }
  return "an operation on whole matrices";
}

std::string LegalityCheck::check_intrinsic(llvm::IntrinsicInst& call) const {
  if (call.isAssumeLikeIntrinsic() || call.isLifetimeStartOrEnd()) return {};
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  if (call.getType()->isVoidTy()) return all_uniform(call) ? "" : "an operation on memory that differs by lane";
  if (shape(&call).is_uniform()) return {};
  if (is_component_reduction(id)) return {};
  if (auto* overflow = llvm::dyn_cast<llvm::WithOverflowInst>(&call)) {
    return overflow->getLHS()->getType()->isVectorTy() ? "an overflow test of vectors" : "";
  }
  if (llvm::isTriviallyVectorizable(id)) {
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      const bool stays = llvm::isVectorIntrinsicWithScalarOpAtArg(id, i);
      if (stays && !shape(call.getArgOperand(i)).is_uniform()) return "an operand that must be the same in all lanes";
    }
    return {};
  }
  // To be taken apart.
  if (!call.doesNotAccessMemory() || call.isConvergent()) return "a call that has no lane form";
  for (const llvm::Use& argument : call.args()) {
    llvm::Type* type = argument->getType();
    const bool is_scalar = type->isIntegerTy() || type->isFloatingPointTy() || type->isPointerTy();
    if (!is_scalar) return "a call that has no lane form";
  }
  const bool makes_scalar = call.getType()->isIntegerTy() || call.getType()->isFloatingPointTy();
  return makes_scalar ? "" : "a call that has no lane form";
}

std::string LegalityCheck::check_call(llvm::CallInst& call) const {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee) return "an indirect call";
  if (callee->getName() == kAllLanes) return {};
  const auto collective = parse_collective(std::string_view(callee->getName()));
  if (is_lane_function(*callee))
    return lanes_ == kSimdWidth ? "" : "a simdgroup operation in a gang that is not a simdgroup";
  if (is_texture_call(*callee)) {
    for (const llvm::Use& argument : call.args())
      if (std::string reason = check_value(argument->getType()); !reason.empty()) return reason;
    return call.getType()->isVoidTy() ? "" : check_value(call.getType());
  }
  if (!collective) return "a call to '" + callee->getName().str() + "'";
  if (tensor_function(collective->kind)) return "a product of tensors";
  if (collective->kind == CollectiveKind::threadgroup_barrier) return {};
  if (lanes_ != kSimdWidth) return "a simdgroup operation in a gang that is not a simdgroup";
  for (const llvm::Use& argument : call.args()) {
    if (is_matrix_type(argument->getType())) continue;
    if (std::string reason = check_value(argument->getType()); !reason.empty()) return reason;
  }
  return is_matrix_type(call.getType()) ? "" : check_value(call.getType());
}

std::string LegalityCheck::check(llvm::Instruction& instruction) const {
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) return check_intrinsic(*intrinsic);
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) return check_call(*call);
  if (auto* memory = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) return check_alloca(*memory);
  const Shape form = shape(&instruction);
  if (form.is_matrix()) return check_matrix(instruction);
  for (const llvm::Use& use : instruction.operands()) {
    if (!is_matrix_type(use->getType()) || llvm::isa<llvm::StoreInst>(instruction)) continue;
    auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction);
    const auto* slot = extract ? llvm::dyn_cast<llvm::ConstantInt>(extract->getIndexOperand()) : nullptr;
    if (!slot || slot->getZExtValue() > 1) return "an element of a matrix that is not the thread's own";
  }
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    llvm::Type* type = store->getValueOperand()->getType();
    const bool differs = !shape(store->getValueOperand()).is_uniform();
    if (type->isAggregateType() && shape(store->getPointerOperand()).is_uniform() && differs) {
      return "a structure stored to one place by several lanes";
    }
    return check_memory(*store, store->getPointerOperand(), type);
  }
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    return form.is_varying() ? check_memory(*load, load->getPointerOperand(), load->getType()) : "";
  }
  if (form.is_uniform() || form.has_offsets()) return {};
  switch (instruction.getOpcode()) {
    case llvm::Instruction::GetElementPtr:
      if (instruction.getType()->isVectorTy()) return "a vector of addresses in one thread";
      break;
    case llvm::Instruction::Br:
    case llvm::Instruction::Switch:
    case llvm::Instruction::Ret:
    case llvm::Instruction::Fence:
    case llvm::Instruction::PHI:
    case llvm::Instruction::Select:
    case llvm::Instruction::Freeze:
    case llvm::Instruction::ICmp:
    case llvm::Instruction::FCmp:
    case llvm::Instruction::FNeg:
    case llvm::Instruction::ExtractElement:
    case llvm::Instruction::InsertElement:
    case llvm::Instruction::ShuffleVector:
    case llvm::Instruction::ExtractValue:
    case llvm::Instruction::InsertValue:
    case llvm::Instruction::AtomicRMW:
    case llvm::Instruction::AtomicCmpXchg:
      break;
    default:
      if (!instruction.isBinaryOp() && !instruction.isCast()) return "an instruction that has no lane form";
  }
  for (const llvm::Use& use : instruction.operands()) {
    if (llvm::isa<llvm::BasicBlock>(use) || is_matrix_type(use->getType())) continue;
    if (std::string reason = check_value(use->getType()); !reason.empty()) return reason;
  }
  return check_value(instruction.getType());
}

std::string LegalityCheck::check_branch(const Level& level, unsigned node) const {
  const LevelNode& at = level.nodes[node];
  if (!analysis_.shapes->divergent(at)) return {};
  const bool closes_loop = level.loop && at.leaves && is_latch_exit(*level.loop);
  return closes_loop || (at.block && arm_of(level, node).first) ? "" : "control flow that could not be structured";
}

}  // namespace

Result<void> check_supported(llvm::Function& function, const Analysis& analysis, unsigned lanes) {
  const LegalityCheck checker(analysis, lanes, function.getParent()->getDataLayout());
  const unsigned instructions = function.getInstructionCount();
  if (instructions > kMostInstructions)
    return fail(Errc::unsupported, "{} instructions are too many for lanes, which take at most {}", instructions,
                kMostInstructions);
  for (const Level& level : analysis.levels->inner_first()) {
    for (unsigned node = 0; node < level.end(); ++node) {
      if (const std::string reason = checker.check_branch(level, node); !reason.empty()) {
        return fail(Errc::unsupported, "lanes: {}", reason);
      }
    }
  }
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (const std::string reason = checker.check(instruction); !reason.empty()) {
      return fail(Errc::unsupported, "lanes: {}: {}", reason, text_of(instruction));
    }
  }
  return {};
}

}  // namespace smelt::aot::cpu::lanes
