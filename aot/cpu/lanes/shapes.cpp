// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lanes/shapes.hpp"

#include "lanes/memory.hpp"
#include "lanes/prepare.hpp"
#include "lower/collectives.hpp"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

#include <algorithm>
#include <bit>

namespace smelt::aot::cpu::lanes {
namespace {

unsigned alignment_of(uint64_t number) {
  return number == 0 ? 63 : static_cast<unsigned>(std::countr_zero(number));
}

// Multiples of what power of two a uniform operand is known to be: constants only.
unsigned alignment_of(const llvm::Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
  return constant && constant->getBitWidth() <= 64 ? alignment_of(constant->getZExtValue()) : 0;
}

uint64_t width_limit(const llvm::Type* type) {
  const unsigned width = type->getScalarSizeInBits();
  return width >= 64 || width == 0 ? Shape::kNoLimit - 1 : (uint64_t{1} << width) - 1;
}

uint64_t limit_of(const Shape& shape, const llvm::Value* value) {
  if (shape.has_offsets()) return shape.limit;
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
  return constant && constant->getBitWidth() <= 64 ? constant->getZExtValue() : Shape::kNoLimit;
}

// The limit of a sum or product, or none if some lane might wrap in `type`.
template <class Operation>
uint64_t combine_limits(uint64_t a, uint64_t b, const llvm::Type* type, Operation operation) {
  if (a == Shape::kNoLimit || b == Shape::kNoLimit) return Shape::kNoLimit;
  uint64_t result = 0;
  return operation(a, b, &result) || result > width_limit(type) ? Shape::kNoLimit : result;
}
bool add_overflow(uint64_t a, uint64_t b, uint64_t* out) {
  return __builtin_add_overflow(a, b, out);
}
bool multiply_overflow(uint64_t a, uint64_t b, uint64_t* out) {
  return __builtin_mul_overflow(a, b, out);
}

// Steps are meant modulo 2^64; wrapping in the analysis is the same wrapping.
int64_t wrapping(uint64_t step) {
  return static_cast<int64_t>(step);
}

// The step as the signed number that it is in a narrower type: -1 rather than 2^32 - 1.
Shape in_width(Shape shape, const llvm::Type* type) {
  if (!shape.is_linear() || !type->isIntegerTy() || type->getIntegerBitWidth() >= 64) return shape;
  const unsigned unused = 64 - type->getIntegerBitWidth();
  const int64_t step = static_cast<int64_t>(static_cast<uint64_t>(shape.step) << unused) >> unused;
  return Shape::linear(step, shape.limit, shape.aligned, shape.guarded);
}

}  // namespace

Shape Shape::linear(int64_t step, uint64_t limit, unsigned aligned, bool guarded) {
  // What is only linear under a guard is not uniform under none: lanes that wrapped differ.
  if (step == 0) return guarded ? varying() : uniform();
  return {Kind::linear, guarded, static_cast<uint8_t>(aligned), step, limit};
}

Shape join(const Shape& a, const Shape& b) {
  if (a.kind == Shape::Kind::unknown) return b;
  if (b.kind == Shape::Kind::unknown || a == b) return a;
  if (a.is_linear() && b.is_linear() && a.step == b.step) {
    return Shape::linear(a.step, a.limit == b.limit ? a.limit : Shape::kNoLimit, std::min(a.aligned, b.aligned),
                         a.guarded || b.guarded);
  }
  if (a.is_spread() && b.is_spread() && a.offsets == b.offsets) {
    Shape both = a;
    if (a.limit != b.limit) both.limit = Shape::kNoLimit;
    both.aligned = std::min(a.aligned, b.aligned);
    both.guarded |= b.guarded;
    return both;
  }
  return Shape::varying();
}

bool is_matrix_type(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector && vector->getNumElements() == 64 && vector->getElementType()->isFloatingPointTy();
}

bool holds_matrices(const llvm::Type* type) {
  while (type->isArrayTy() || (type->isStructTy() && type->getStructNumElements() == 1))
    type = type->getContainedType(0);
  return is_matrix_type(type);
}

Shapes::Shapes(llvm::Function& function, llvm::LoopInfo& loops, const Levels& levels, llvm::ArrayRef<Shape> arguments,
               unsigned lanes)
    : function_(function),
      loops_(loops),
      levels_(levels),
      layout_(function.getParent()->getDataLayout()),
      lanes_(lanes) {
  for (llvm::Argument& argument : function.args()) shapes_[&argument] = arguments[argument.getArgNo()];
  do {
    do {
      while (propagate()) {
      }
    } while (find_joins());
  } while (settle_unknown());
}

// What undefined values alone reach, in a circle. Varying, as what leaves a loop that lanes leave one by one must be.
bool Shapes::settle_unknown() {
  bool changed = false;
  const llvm::ReversePostOrderTraversal<llvm::Function*> order(&function_);
  for (const llvm::BasicBlock* block : order)
    for (const llvm::Instruction& instruction : *block) {
      if (instruction.getType()->isVoidTy()) continue;
      Shape& shape = shapes_[&instruction];
      if (shape.kind != Shape::Kind::unknown) continue;
      shape = is_matrix_type(instruction.getType()) ? Shape::matrix() : Shape::varying();
      changed = true;
    }
  return changed;
}

Shape Shapes::of(const llvm::Value* value) const {
  if (llvm::isa<llvm::Constant>(value)) return is_matrix_type(value->getType()) ? Shape::matrix() : Shape::uniform();
  return shapes_.lookup(value);
}

bool Shapes::divergent(const llvm::BasicBlock* block) const {
  const llvm::Instruction* end = block->getTerminator();
  const llvm::Value* condition = nullptr;
  if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(end)) {
    if (branch->isConditional() && branch->getSuccessor(0) != branch->getSuccessor(1)) {
      condition = branch->getCondition();
    }
  } else if (const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(end)) {
    condition = choice->getCondition();
  }
  if (!condition) return false;
  const Shape shape = of(condition);
  return shape.has_offsets() || shape.is_varying();
}

bool Shapes::divergent(const LevelNode& node) const {
  return node.block ? divergent(node.block) : divergent(node.loop) && !node.loop->getUniqueExitBlock();
}

bool Shapes::propagate() {
  bool changed = false;
  const llvm::ReversePostOrderTraversal<llvm::Function*> order(&function_);
  for (const llvm::BasicBlock* block : order) {
    for (const llvm::Instruction& instruction : *block) {
      if (instruction.getType()->isVoidTy()) continue;
      Shape& shape = shapes_[&instruction];
      if (shape.is_varying()) continue;
      const Shape next = join(shape, in_width(compute(instruction), instruction.getType()));
      if (next == shape) continue;
      shapes_[&instruction] = next;
      changed = true;
    }
  }
  return changed;
}

// Blocks where lanes meet that a branch had parted, and loops that lanes leave at different times.
bool Shapes::find_joins() {
  const size_t before = joins_.size() + divergent_loops_.size();
  for (const Level& level : levels_.inner_first()) {
    for (unsigned at = 0; at < level.end(); ++at) {
      const LevelNode& node = level.nodes[at];
      if (!divergent(node)) continue;
      llvm::SmallVector<unsigned, 8> met = level.region(at);
      for (unsigned inside : met) {
        if (level.nodes[inside].leaves) divergent_loops_.insert(level.loop);
      }
      if (node.leaves) divergent_loops_.insert(level.loop);
      if (node.post != level.end()) met.push_back(node.post);
      for (unsigned inside : met) {
        if (llvm::BasicBlock* block = level.nodes[inside].block; block && llvm::pred_size(block) > 1) {
          joins_.insert(block);
        }
      }
    }
    if (level.loop && divergent(level.loop)) {
      llvm::SmallVector<llvm::BasicBlock*, 4> exits;
      level.loop->getUniqueExitBlocks(exits);
      for (llvm::BasicBlock* exit : exits) {
        if (llvm::pred_size(exit) > 1) joins_.insert(exit);
      }
    }
  }
  return joins_.size() + divergent_loops_.size() != before;
}

bool Shapes::left_divergent_loop(const llvm::BasicBlock* from, const llvm::BasicBlock* to,
                                 const llvm::Value* value) const {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction) return false;
  for (const llvm::Loop* loop = loops_.getLoopFor(from); loop && !loop->contains(to); loop = loop->getParentLoop()) {
    if (divergent(loop) && loop->contains(instruction->getParent())) return true;
  }
  return false;
}

Shape Shapes::of_phi(const llvm::PHINode& phi) const {
  const llvm::BasicBlock* block = phi.getParent();
  const llvm::Value* only = nullptr;
  bool several = false;
  Shape result;
  for (const llvm::Use& use : phi.incoming_values()) {
    if (llvm::isa<llvm::UndefValue>(use)) continue;
    several |= only && only != use.get();
    only = use.get();
    Shape incoming = of(use);
    const bool known = incoming.kind != Shape::Kind::unknown;
    if (known && !incoming.is_matrix() && left_divergent_loop(phi.getIncomingBlock(use), block, use)) {
      incoming = Shape::varying();
    }
    result = join(result, incoming);
  }
  if (!only) return is_matrix_type(phi.getType()) ? Shape::matrix() : Shape::uniform();
  if (result.kind == Shape::Kind::unknown || result.is_matrix()) return result;
  if (several && is_join(block)) return Shape::varying();
  return result.guarded ? Shape::varying() : result;
}

Shape Shapes::of_call(const llvm::Instruction& instruction) const {
  const auto& call = llvm::cast<llvm::CallInst>(instruction);
  const llvm::Function* callee = call.getCalledFunction();
  if (callee && callee->getName() == kAllLanes) return Shape::uniform();
  // Lanes in step that look at one texel see one texel.
  if (callee && is_texture_call(*callee) && callee->onlyReadsMemory() && !call.getType()->isVoidTy() &&
      llvm::all_of(call.args(), [&](const llvm::Use& argument) { return of(argument).is_uniform(); }))
    return Shape::uniform();
  const auto collective = callee ? parse_collective(std::string_view(callee->getName())) : std::nullopt;
  if (!collective) return Shape::varying();
  if (is_matrix_type(call.getType())) return Shape::matrix();
  if (collective->group_width != kSimdWidth) return Shape::varying();
  if (is_reduction(collective->kind)) return Shape::uniform();
  switch (collective->kind) {
    case CollectiveKind::broadcast_first:
    case CollectiveKind::ballot:
    case CollectiveKind::all:
    case CollectiveKind::any:
    case CollectiveKind::active_threads_mask:
    case CollectiveKind::async_copy_1d:
    case CollectiveKind::async_copy_2d:
      return Shape::uniform();
    case CollectiveKind::broadcast:
      return of(call.getArgOperand(1)).is_uniform() ? Shape::uniform() : Shape::varying();
    default:
      return Shape::varying();
  }
}

Shape Shapes::spread(LaneOffsets offsets, const llvm::Type* type, uint64_t limit, unsigned aligned,
                     bool guarded) const {
  // Differences modulo the width, but where no lane wraps: there they are what they are.
  const bool wraps = limit == Shape::kNoLimit;
  const auto difference = [&](uint64_t offset) {
    return wraps ? in_width(Shape::linear(wrapping(offset)), type).step : wrapping(offset);
  };
  bool linear = true;
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    offsets[lane] = difference(uint64_t(offsets[lane]));
    linear &= offsets[lane] == difference(uint64_t(offsets[1]) * lane);
  }
  if (linear) return Shape::linear(offsets[1], limit, aligned, guarded);
  Shape made{Shape::Kind::spread, guarded, static_cast<uint8_t>(aligned), 0, limit};
  made.offsets = &*offsets_.insert(offsets).first;
  return made;
}

// How far a lane may be from lane 0.
uint64_t Shapes::reach(const Shape& shape) const {
  uint64_t most = 0;
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    const int64_t offset = shape.offset(lane);
    most = std::max(most, offset < 0 ? 0 - uint64_t(offset) : uint64_t(offset));
  }
  return most;
}

// Operations on linear and spread values, lane by lane.
Shape Shapes::of_arithmetic(const llvm::Instruction& instruction) const {
  const llvm::Type* type = instruction.getType();
  const llvm::Value* left = instruction.getOperand(0);
  const llvm::Value* right = instruction.getOperand(1);
  const Shape a = of(left);
  const Shape b = of(right);
  if (a.is_varying() || b.is_varying() || !type->isIntegerTy()) return Shape::varying();
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(right);
  if (constant && constant->getBitWidth() > 64) return Shape::varying();
  const uint64_t number = constant ? constant->getZExtValue() : 0;
  const bool guarded = a.guarded || b.guarded;
  const auto aligned = [](const Shape& shape, const llvm::Value* value) -> unsigned {
    return shape.has_offsets() ? shape.aligned : alignment_of(value);
  };
  const auto each = [&](auto&& combine) {
    LaneOffsets made{};
    for (unsigned lane = 0; lane < lanes_; ++lane)
      made[lane] = wrapping(combine(uint64_t(a.offset(lane)), uint64_t(b.offset(lane))));
    return made;
  };
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Or:
      if (!llvm::cast<llvm::PossiblyDisjointInst>(instruction).isDisjoint()) break;
      [[fallthrough]];
    case llvm::Instruction::Add:
      return spread(each([](uint64_t x, uint64_t y) { return x + y; }), type,
                    combine_limits(limit_of(a, left), limit_of(b, right), type, add_overflow),
                    std::min(aligned(a, left), aligned(b, right)), guarded);
    case llvm::Instruction::Sub:
      return spread(each([](uint64_t x, uint64_t y) { return x - y; }), type, Shape::kNoLimit, 0, guarded);
    case llvm::Instruction::Mul:
      if (!constant) return Shape::varying();
      return spread(each([&](uint64_t x, uint64_t) { return x * number; }), type,
                    combine_limits(limit_of(a, left), number, type, multiply_overflow),
                    std::min(63u, a.aligned + alignment_of(number)), guarded);
    case llvm::Instruction::Shl:
      if (!constant || number >= type->getIntegerBitWidth()) return Shape::varying();
      return spread(each([&](uint64_t x, uint64_t) { return x << number; }), type,
                    combine_limits(limit_of(a, left), uint64_t{1} << number, type, multiply_overflow),
                    std::min<unsigned>(63, a.aligned + static_cast<unsigned>(number)), guarded);
    default:
      break;
  }
  return constant && a.has_offsets() ? of_bits(instruction, a, number) : Shape::varying();
}

// Where the base's low bits are 0 and the offsets lie in them, an operation by a constant works on each by itself.
Shape Shapes::of_bits(const llvm::Instruction& instruction, const Shape& a, uint64_t number) const {
  const llvm::Type* type = instruction.getType();
  const unsigned width = type->getIntegerBitWidth();
  if (a.guarded || width > 64) return Shape::varying();
  const unsigned low = std::min<unsigned>(a.aligned, std::min(width, 63u));
  for (unsigned lane = 0; lane < lanes_; ++lane)
    if (a.offset(lane) < 0 || uint64_t(a.offset(lane)) >> low != 0) return Shape::varying();
  const bool is_all = low >= width || (low == 63 && a.limit >> 63 == 0);  // the base is 0
  const uint64_t limit = std::min(a.limit, width_limit(type));
  const auto each = [&](auto&& combine) {
    LaneOffsets made{};
    for (unsigned lane = 0; lane < lanes_; ++lane) made[lane] = wrapping(combine(uint64_t(a.offset(lane))));
    for (unsigned lane = lanes_; lane-- > 0;) made[lane] = wrapping(uint64_t(made[lane]) - uint64_t(made[0]));
    return made;
  };
  const uint64_t low_bits = (uint64_t{1} << low) - 1;
  switch (instruction.getOpcode()) {
    case llvm::Instruction::And:
      return spread(each([&](uint64_t x) { return x & number; }), type, std::min(a.limit, number),
                    is_all || number <= low_bits ? 63 : low, false);
    case llvm::Instruction::Or:
      return spread(each([&](uint64_t x) { return x | (number & low_bits); }), type,
                    is_all ? low_bits & width_limit(type) : Shape::kNoLimit, 0, false);
    case llvm::Instruction::Xor:
      return spread(each([&](uint64_t x) { return x ^ (number & low_bits); }), type,
                    is_all ? low_bits & width_limit(type) : Shape::kNoLimit, 0, false);
    case llvm::Instruction::LShr:
      if (number > low) return Shape::varying();
      return spread(each([&](uint64_t x) { return x >> number; }), type, limit >> number,
                    is_all ? 63 : low - static_cast<unsigned>(number), false);
    case llvm::Instruction::UDiv:
      if (number == 0 || !(is_all || (std::has_single_bit(number) && alignment_of(number) <= low)))
        return Shape::varying();
      return spread(each([&](uint64_t x) { return x / number; }), type, limit / number,
                    is_all ? 63 : low - alignment_of(number), false);
    case llvm::Instruction::URem:
      if (number == 0 || !(is_all || (std::has_single_bit(number) && alignment_of(number) <= low)))
        return Shape::varying();
      return spread(each([&](uint64_t x) { return x % number; }), type, number - 1, 63, false);
    default:
      return Shape::varying();
  }
}

Shape Shapes::of_cast(const llvm::Instruction& instruction) const {
  const Shape a = of(instruction.getOperand(0));
  if (!a.has_offsets()) return Shape::varying();
  const llvm::Type* from = instruction.getOperand(0)->getType();
  const llvm::Type* to = instruction.getType();
  const uint64_t span = reach(a);
  const auto under_guard = [&] {
    Shape made = a;
    made.limit = Shape::kNoLimit;
    made.guarded = true;
    return made;
  };
  switch (instruction.getOpcode()) {
    case llvm::Instruction::ZExt:
      if (a.guarded || from->isIntegerTy(1)) return Shape::varying();
      if (a.limit <= width_limit(from)) return a;
      return span < width_limit(from) / 2 ? under_guard() : Shape::varying();
    case llvm::Instruction::SExt:
      if (a.guarded || from->isIntegerTy(1)) return Shape::varying();
      if (a.limit <= width_limit(from) / 2) return a;
      return span < width_limit(from) / 4 ? under_guard() : Shape::varying();
    case llvm::Instruction::Trunc:
      if (to->isIntegerTy(1)) return Shape::varying();
      if (a.is_spread())
        return spread(*a.offsets, to, a.limit <= width_limit(to) ? a.limit : Shape::kNoLimit, a.aligned, a.guarded);
      return Shape::linear(a.step, a.limit <= width_limit(to) ? a.limit : Shape::kNoLimit, a.aligned, a.guarded);
    case llvm::Instruction::AddrSpaceCast:
    case llvm::Instruction::IntToPtr:
    case llvm::Instruction::PtrToInt:
      return layout_.getTypeSizeInBits(const_cast<llvm::Type*>(from)) ==
                     layout_.getTypeSizeInBits(const_cast<llvm::Type*>(to))
                 ? a
                 : Shape::varying();
    default:
      return Shape::varying();
  }
}

Shape Shapes::of_address(const llvm::Instruction& instruction) const {
  const auto& address = llvm::cast<llvm::GetElementPtrInst>(instruction);
  const Shape pointer = of(address.getPointerOperand());
  if (pointer.is_varying() || address.getType()->isVectorTy()) return Shape::varying();
  LaneOffsets offsets{};
  const auto add = [&](const Shape& shape, uint64_t bytes) {
    for (unsigned lane = 0; lane < lanes_; ++lane)
      offsets[lane] = wrapping(uint64_t(offsets[lane]) + uint64_t(shape.offset(lane)) * bytes);
  };
  add(pointer, 1);
  bool guarded = pointer.guarded;
  for (auto type = llvm::gep_type_begin(address), end = llvm::gep_type_end(address); type != end; ++type) {
    const Shape index = of(type.getOperand());
    if (index.is_varying()) return Shape::varying();
    if (!index.has_offsets()) continue;
    // A narrow index is sign-extended by the access itself, where no guard could be placed.
    if (type.isStruct() || type.getOperand()->getType()->getScalarSizeInBits() < 64) return Shape::varying();
    add(index, layout_.getTypeAllocSize(type.getIndexedType()).getFixedValue());
    guarded |= index.guarded;
  }
  return spread(offsets, address.getType(), Shape::kNoLimit, 0, guarded);
}

Shape Shapes::compute(const llvm::Instruction& instruction) const {
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) return of_phi(*phi);
  bool all_uniform = true;
  bool some_matrix = false;
  for (const llvm::Use& use : instruction.operands()) {
    if (llvm::isa<llvm::BasicBlock>(use) || llvm::isa<llvm::Function>(use) || llvm::isa<llvm::MetadataAsValue>(use)) {
      continue;
    }
    const Shape shape = of(use);
    if (shape.kind == Shape::Kind::unknown) return {};
    some_matrix |= shape.is_matrix();
    all_uniform &= shape.is_uniform();
  }
  if (const auto* memory = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
    // One matrix serves the whole gang; anything else exists once per lane, one after another.
    if (holds_matrices(memory->getAllocatedType())) return Shape::uniform();
    if (const llvm::MDNode* step = memory->getMetadata(kLaneStep)) {
      return Shape::linear(llvm::mdconst::extract<llvm::ConstantInt>(step->getOperand(0))->getSExtValue());
    }
    return Shape::linear(static_cast<int64_t>(layout_.getTypeAllocSize(memory->getAllocatedType()).getFixedValue()));
  }
  if (llvm::isa<llvm::AtomicRMWInst>(instruction) || llvm::isa<llvm::AtomicCmpXchgInst>(instruction)) {
    return Shape::varying();
  }
  if (llvm::isa<llvm::CallInst>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction)) {
    return of_call(instruction);
  }
  if (is_matrix_type(instruction.getType())) return Shape::matrix();
  if (all_uniform) return Shape::uniform();
  if (some_matrix) return Shape::varying();  // an element of a matrix
  switch (instruction.getOpcode()) {
    case llvm::Instruction::GetElementPtr:
      return of_address(instruction);
    case llvm::Instruction::Freeze: {
      const Shape operand = of(instruction.getOperand(0));
      return operand.guarded ? Shape::varying() : operand;
    }
    case llvm::Instruction::Select: {
      if (!of(instruction.getOperand(0)).is_uniform()) return Shape::varying();
      const Shape both = join(of(instruction.getOperand(1)), of(instruction.getOperand(2)));
      return both.guarded ? Shape::varying() : both;
    }
    default:
      if (instruction.isCast()) return of_cast(instruction);
      return instruction.isBinaryOp() ? of_arithmetic(instruction) : Shape::varying();
  }
}

}  // namespace smelt::aot::cpu::lanes
