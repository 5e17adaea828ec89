// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Function bodies: blocks, the native type of each value, views, and pointer constant expressions turned into code.
#include "bitcode/codes.hpp"
#include "bitcode/lowering.hpp"

#include "llvm/Bitcode/LLVMBitCodes.h"

namespace smelt::aot::bitcode {

namespace bitc = llvm::bitc;

void Lowering::lower_body(uint32_t function_index) {
  const FunctionHeader header = out_.functions[function_index];  // by value: the table may grow
  const llvm::Function& function = *header.source;
  out_.trouble.enter(&function);
  body_ = &out_.bodies.emplace_back();
  body_->function = &function;
  body_->self = header.value;
  body_->result = header.signature.result;
  locals_.clear();
  size_t instructions = function.arg_size();
  for (const llvm::BasicBlock& block : function) instructions += block.size();
  locals_.reserve(instructions);
  block_index_.clear();
  body_constants_.clear();
  views_.clear();
  expanded_.clear();
  local_metadata_.clear();
  phis_.clear();
  if (function.hasGC()) unsupported("a garbage collector");

  for (const llvm::Argument& argument : function.args()) {
    const ValueRef value = new_value(header.signature.parameters[argument.getArgNo()]);
    locals_[&argument] = value;
    body_->arguments.push_back(value);
  }
  std::vector<const llvm::BasicBlock*> order;
  for (const llvm::BasicBlock& block : function) order.push_back(&block);
  if (options_.reverse_blocks) std::reverse(order.begin() + 1, order.end());
  for (const llvm::BasicBlock* block : order) block_index_.try_emplace(block, block_index_.size());
  body_->blocks.resize(order.size());
  for (block_ = 0; block_ < order.size() && !out_.trouble; ++block_) {
    Block& block = body_->blocks[block_];
    block.first = static_cast<uint32_t>(out_.records.size());
    lower_block(*order[block_], header);
    block.count = static_cast<uint32_t>(out_.records.size()) - block.first;
  }
  if (!out_.trouble) lower_phis();
  body_->attachments = attachments_of(function);
  body_ = nullptr;
  origin_ = nullptr;
  out_.trouble.enter(nullptr);
}

void Lowering::lower_block(const llvm::BasicBlock& block, const FunctionHeader& header) {
  for (const llvm::Instruction& instruction : block) {
    origin_ = &instruction;
    out_.trouble.at(&instruction);
    if (options_.keep_debug && instruction.hasDbgRecords()) lower_debug_records(instruction);
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
      Draft record(*this, bitc::FUNC_CODE_INST_PHI);
      phis_.emplace_back(phi, record.index());
      finish(instruction, record);
    } else if (resolve(&instruction) == &instruction) {
      lower_instruction(instruction, header);
    }
    if (out_.trouble) return;
  }
}

// Incoming pointers need their view at the end of the predecessor: all blocks must be there first. Two entries from one
// predecessor (a switch) must be the same value, which the table of views gives for free.
void Lowering::lower_phis() {
  llvm::SmallVector<std::pair<ValueRef, uint32_t>, 8> incoming;
  for (const auto& [phi, index] : phis_) {
    origin_ = phi;
    out_.trouble.at(phi);
    const TypeId type = types_.of(phi->getType());
    incoming.clear();
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      block_ = block_index_.lookup(phi->getIncomingBlock(i));
      edge_ = &body_->blocks[block_].edge;
      incoming.emplace_back(use_as(phi->getIncomingValue(i), type), block_);
    }
    edge_ = nullptr;
    Record& record = out_.records[index];
    record.first_field = static_cast<uint32_t>(out_.fields.size());
    out_.fields.push_back({Field::literal, type});
    for (const auto& [value, from] : incoming) {
      out_.fields.push_back({Field::relative_signed, value});
      out_.fields.push_back({Field::literal, from});
    }
    const uint32_t flags = options_.below_air_2_6 ? 0 : flags_of(*phi);
    if (flags) out_.fields.push_back({Field::literal, flags});
    record.field_count = static_cast<uint32_t>(out_.fields.size()) - record.first_field;
  }
}

// What a use of `value` really uses: no pointer-to-pointer bitcasts, and below AIR 2.6 no freeze.
const llvm::Value* Lowering::resolve(const llvm::Value* value) const {
  for (unsigned steps = 0;; ++steps) {
    value = skip_no_op(value);
    if (steps == 4096) return value;
    const auto* freeze = options_.below_air_2_6 ? llvm::dyn_cast<llvm::FreezeInst>(value) : nullptr;
    if (!freeze) return value;
    value = freeze->getOperand(0);
    // Undef may differ from use to use; freezing it to zero keeps the uses equal.
    if (llvm::isa<llvm::UndefValue>(value)) return llvm::Constant::getNullValue(value->getType());
  }
}

// ---- values ---------------------------------------------------------------------------------------------------------

TypeId Lowering::repointed(const llvm::Type* pointer_like, TypeId pointee) {
  const TypeId pointer = types_.pointer(pointee, pointer_like->getPointerAddressSpace());
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(pointer_like);
  return vector ? types_.vector(vector->getNumElements(), pointer) : pointer;
}

const llvm::Function* Lowering::direct_callee(const llvm::CallBase& call) const {
  const auto* function = llvm::dyn_cast<llvm::Function>(skip_no_op(call.getCalledOperand()));
  return function && function->getFunctionType() == call.getFunctionType() ? function : nullptr;
}

TypeId Lowering::native_type(const llvm::Value* value) {
  if (const auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(value))
    return repointed(gep->getType(), types_.of(gep->getResultElementType()));
  if (const auto* local = llvm::dyn_cast<llvm::AllocaInst>(value))
    return types_.pointer(types_.of(local->getAllocatedType()), local->getAddressSpace());
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(value); call && call->getType()->isPointerTy()) {
    if (const llvm::Function* function = direct_callee(*call))
      return out_.functions[function_index_.lookup(function)].signature.result;
  }
  return types_.of(value->getType());
}

ValueRef Lowering::value_of(const llvm::Value* value) {
  auto [at, fresh] = locals_.try_emplace(value, kNoValue);
  if (fresh) {
    if (is_no_op(value)) unsupported("a cycle of pointer casts, in code that is never reached");
    const TypeId type = native_type(value);  // asks for no other local value
    at->second = new_value(type);
  }
  return at->second;
}

ValueRef Lowering::use(const llvm::Value* value) {
  value = resolve(value);
  if (!value->getType()->isPtrOrPtrVectorTy() && !llvm::isa<llvm::Constant>(value)) return value_of(value);
  return use_as(value, types_.of(value->getType()));
}

ValueRef Lowering::use_as_pointer_to(const llvm::Value* pointer, llvm::Type* pointee) {
  return use_as(pointer, repointed(pointer->getType(), types_.of(pointee)));
}

ValueRef Lowering::use_as(const llvm::Value* value, TypeId want) {
  value = resolve(value);
  if (const auto* fixed = llvm::dyn_cast<llvm::Constant>(value)) {
    if (!options_.expand_constants || !needs_code(fixed, want)) return constant(fixed, want);
    return view(expand(fixed), want);
  }
  return view(value_of(value), want);
}

ValueRef Lowering::view(ValueRef native, TypeId want) {
  if (native == kNoValue || type_of(native) == want) return native;
  auto [at, fresh] = views_.try_emplace({static_cast<uint64_t>(block_) << 32 | native, want}, kNoValue);
  if (!fresh) return at->second;
  const ValueRef result = at->second = new_value(want);
  Draft record(*this, bitc::FUNC_CODE_INST_CAST);
  record.typed(native).literal(want).literal(bitc::CAST_BITCAST).result(result);
  ++statistics_.views;
  return result;
}

// ---- constants as code ----------------------------------------------------------------------------------------------

bool Lowering::needs_code(const llvm::Constant* constant, TypeId want) const {
  if (const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(constant)) {
    // A constexpr sampler is the number of its state; as code, the loader might not see it.
    return expression->getOpcode() != llvm::Instruction::IntToPtr;
  }
  if (llvm::isa<llvm::ConstantAggregate>(constant)) {
    for (const llvm::Use& part : constant->operands()) {
      const auto* inner = llvm::cast<llvm::Constant>(skip_no_op(part.get()));
      if (needs_code(inner, types_.of(inner->getType()))) return true;
    }
    return false;
  }
  const auto at = globals_.find(constant);
  return at != globals_.end() && type_of(at->second) != want;
}

ValueRef Lowering::expand(const llvm::Constant* constant) {
  if (auto at = globals_.find(constant); at != globals_.end()) return at->second;
  if (auto at = expanded_.find({constant, block_}); at != expanded_.end()) return at->second;
  constexpr unsigned kDeepest = 512;
  if (depth_ >= kDeepest) {
    unsupported(fmt::format("a constant expression is nested more than {} deep", kDeepest));
    return kNoValue;
  }
  ++depth_;
  const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(constant);
  const ValueRef result = expression ? expand_expression(*expression) : expand_aggregate(*constant);
  --depth_;
  ++statistics_.expanded_constants;
  return expanded_[{constant, block_}] = result;
}

ValueRef Lowering::expand_expression(const llvm::ConstantExpr& expression) {
  TypeId type = types_.of(expression.getType());
  auto done = [&](Draft& record) {
    const ValueRef result = new_value(type);
    record.result(result);
    return result;
  };
  if (const auto* gep = llvm::dyn_cast<llvm::GEPOperator>(&expression)) {
    type = repointed(gep->getType(), types_.of(gep->getResultElementType()));
    llvm::SmallVector<ValueRef, 8> operands{use_as_pointer_to(gep->getPointerOperand(), gep->getSourceElementType())};
    for (const llvm::Use& index : gep->indices()) operands.push_back(use(index.get()));
    Draft record(*this, bitc::FUNC_CODE_INST_GEP);
    record.literal(gep->isInBounds()).literal(types_.of(gep->getSourceElementType()));
    for (const ValueRef operand : operands) record.typed(operand);
    return done(record);
  }
  if (const auto code = cast_code(expression.getOpcode())) {
    const ValueRef operand = use(expression.getOperand(0));
    Draft record(*this, bitc::FUNC_CODE_INST_CAST);
    record.typed(operand).literal(type).literal(*code);
    return done(record);
  }
  if (const auto code = binary_code(expression.getOpcode())) {
    const ValueRef left = use(expression.getOperand(0)), right = use(expression.getOperand(1));
    Draft record(*this, bitc::FUNC_CODE_INST_BINOP);
    record.typed(left).relative(right).literal(*code).flags(flags_of(expression));
    return done(record);
  }
  return constant(&expression, type);
}

// A struct, array or vector with an address in it: put together piece by piece.
ValueRef Lowering::expand_aggregate(const llvm::Constant& aggregate) {
  const TypeId type = types_.of(aggregate.getType());
  ValueRef whole = constant(llvm::UndefValue::get(aggregate.getType()), type);
  for (unsigned i = 0; i < aggregate.getNumOperands(); ++i) {
    const ValueRef part = use(aggregate.getOperand(i)), before = whole;
    whole = new_value(type);
    if (aggregate.getType()->isVectorTy()) {
      const auto* index = llvm::ConstantInt::get(llvm::Type::getInt32Ty(aggregate.getContext()), i);
      const ValueRef lane = constant(index, i32_);
      Draft record(*this, bitc::FUNC_CODE_INST_INSERTELT);
      record.typed(before).relative(part).typed(lane).result(whole);
    } else {
      Draft record(*this, bitc::FUNC_CODE_INST_INSERTVAL);
      record.typed(before).typed(part).literal(i).result(whole);
    }
  }
  return whole;
}

// ---- records --------------------------------------------------------------------------------------------------------

void Lowering::finish(const llvm::Instruction& instruction, Draft& draft) {
  Record& record = draft.record();
  if (!instruction.getType()->isVoidTy()) record.result = value_of(&instruction);
  if (instruction.hasMetadataOtherThanDebugLoc()) {
    llvm::SmallVector<std::pair<unsigned, llvm::MDNode*>, 4> all;
    instruction.getAllMetadataOtherThanDebugLoc(all);
    record.first_attachment = static_cast<uint32_t>(out_.attachments.size());
    for (auto [kind, node] : all)
      if (const MetadataRef ref = metadata(node)) out_.attachments.push_back({kind, ref});
    record.attachment_count = static_cast<uint32_t>(out_.attachments.size()) - record.first_attachment;
  }
  if (options_.keep_debug && instruction.getDebugLoc()) record.location = location(instruction.getDebugLoc());
}

}  // namespace smelt::aot::bitcode
