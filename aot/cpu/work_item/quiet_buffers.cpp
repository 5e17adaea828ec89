// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/quiet_buffers.hpp"

#include "abi/dispatch_block.hpp"
#include "lower/collectives.hpp"
#include "runtime/runtime.hpp"
#include "work_item/defined.hpp"
#include "work_item/texel_access.hpp"
#include "work_item/watch_calls.hpp"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

namespace smelt::aot::cpu {

using namespace llvm::PatternMatch;

namespace {

constexpr uint64_t kNumbers = uint64_t{1} << 32;  // that an index has

}  // namespace

QuietBuffers::QuietBuffers(const WorkItem& item, const llvm::Argument* dispatch) : item_(item), dispatch_(dispatch) {
  const llvm::DataLayout& layout = item.function->getParent()->getDataLayout();
  const auto size = [&](llvm::Type* type) { return layout.getTypeStoreSize(type).getFixedValue(); };
  for (const llvm::Instruction& one : llvm::instructions(*item.function)) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&one)) {
      if (!reads_dispatch(load, dispatch)) learn(load->getPointerOperand(), size(load->getType()), false);
    } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&one)) {
      learn(store->getPointerOperand(), size(store->getValueOperand()->getType()), true);
    } else if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&one)) {
      learn(exchange->getPointerOperand(), size(exchange->getCompareOperand()->getType()), true);
    } else if (const auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&one)) {
      learn(atomic->getPointerOperand(), size(atomic->getType()), true);
    } else if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&one)) {
      learn_call(*call);
    }
  }
}

void QuietBuffers::learn_call(const llvm::CallInst& call) {
  if (call.isDebugOrPseudoInst() || llvm::isa<llvm::LifetimeIntrinsic, llvm::AssumeInst>(call)) return;
  if (texel_access(call)) return;  // of textures, whose bytes the loader knows
  const llvm::StringRef name = call.getCalledFunction() != nullptr ? call.getCalledFunction()->getName() : "";
  const auto collective = parse_collective(name);
  const bool only_reads = collective && collective->kind == CollectiveKind::matrix_load;
  // Descriptors say where tensors lie.
  const bool is_of_tensors = (collective && (collective->kind == CollectiveKind::tensor_product ||
                                             collective->kind == CollectiveKind::tensor_reduce)) ||
                             name.starts_with((llvm::Twine(llvm::StringRef(kRuntimePrefix)) + "tensor_").str());
  if (is_of_tensors || (call.getCalledFunction() == nullptr && !call.isInlineAsm()))
    reads_anywhere_ = writes_anywhere_ = true;
  for (const llvm::Use& use : call.args())
    if (use->getType()->isPointerTy()) learn(use, 0, !only_reads && !call.onlyReadsMemory());
}

void QuietBuffers::learn(const llvm::Value* pointer, uint64_t bytes, bool is_write) {
  llvm::SmallVector<const llvm::Value*> origins;
  llvm::getUnderlyingObjects(pointer, origins, nullptr, 0);
  for (const llvm::Value* origin : origins) {
    const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(origin);
    if (llvm::isa<llvm::AllocaInst, llvm::ConstantPointerNull>(origin) || origin == dispatch_ ||
        reads_dispatch(origin, dispatch_) || (global != nullptr && global->isConstant()))
      continue;
    const auto* argument = llvm::dyn_cast<llvm::Argument>(origin);
    if (argument == nullptr) {
      reads_anywhere_ = true;
      writes_anywhere_ |= is_write;
      continue;
    }
    Buffer& buffer = buffers_[argument];
    const bool is_new = buffer.place.index == nullptr;
    buffer.is_written |= is_write;
    Place place;
    if (!buffer.is_apart) continue;
    buffer.is_apart = origins.size() == 1 && find_place(pointer, bytes, place) && (is_new || place == buffer.place);
    buffer.place = place;
  }
}

bool QuietBuffers::is_position(const llvm::Value* value, uint8_t axis) const {
  const auto* argument = llvm::dyn_cast<llvm::Argument>(value);
  if (argument == nullptr) return false;
  const WorkParameter& parameter = item_.parameters[argument->getArgNo()];
  return parameter.kind == WorkParameter::Kind::builtin && parameter.component == axis &&
         parameter.builtin == Builtin::thread_position_in_grid;
}

bool QuietBuffers::find_row(const llvm::Value* index, uint64_t& row) const {
  row = 0;
  if (is_position(index, 0)) return true;
  const llvm::Value* first = nullptr;
  const llvm::Value* second = nullptr;
  if (!match(index, m_AddLike(m_Value(first), m_Value(second)))) return false;
  if (is_position(first, 0)) std::swap(first, second);
  if (!is_position(second, 0)) return false;
  const llvm::Value* y = nullptr;
  const llvm::APInt* times = nullptr;
  if (match(first, m_Mul(m_Value(y), m_APInt(times))))
    row = times->getZExtValue();
  else if (match(first, m_Shl(m_Value(y), m_APInt(times))) && times->ult(32))
    row = uint64_t{1} << times->getZExtValue();
  return row != 0 && is_position(y, 1);
}

bool QuietBuffers::find_place(const llvm::Value* pointer, uint64_t bytes, Place& place) const {
  const llvm::DataLayout& layout = item_.function->getParent()->getDataLayout();
  constexpr unsigned kBits = 64;
  llvm::APInt constant(kBits, 0);
  llvm::MapVector<llvm::Value*, llvm::APInt> variable;
  pointer = pointer->stripPointerCasts();
  while (const auto* gep = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
    if (!gep->collectOffset(layout, kBits, variable, constant)) return false;
    pointer = gep->getPointerOperand()->stripPointerCasts();
  }
  if (!llvm::isa<llvm::Argument>(pointer) || variable.size() != 1 || bytes == 0) return false;
  const auto& [index, times] = variable.front();
  place.index = index;
  // Different numbers of 32 bits stay different ones.
  if (llvm::isa<llvm::ZExtInst, llvm::SExtInst>(index)) place.index = llvm::cast<llvm::CastInst>(index)->getOperand(0);
  if (!place.index->getType()->isIntegerTy(32) || !times.isStrictlyPositive() || constant.isNegative()) return false;
  place.bytes = times.getZExtValue();
  if (bytes > place.bytes || constant.ugt(place.bytes - bytes)) return false;
  return find_row(place.index, place.row);
}

void QuietBuffers::ask(llvm::IRBuilderBase& builder, llvm::Value* dispatch) {
  if (writes_anywhere_) return;
  llvm::Type* const i32 = builder.getInt32Ty();
  const auto grid = [&](uint64_t axis) {
    return load_constant(builder, i32, dispatch, offsetof(smelt_cpu_dispatch, grid) + 4 * axis);
  };
  for (auto& [argument, buffer] : buffers_) {
    const WorkParameter& parameter = item_.parameters[argument->getArgNo()];
    if (!parameter.is_bound(BindingClass::buffer) || parameter.count != 0 || parameter.index >= SMELT_CPU_MAX_BUFFERS)
      continue;
    if (buffer.is_written && (reads_anywhere_ || !buffer.is_apart)) continue;
    llvm::Value* const alone = load_watch_field(builder, dispatch, offsetof(smelt_cpu_watch, alone), i32);
    llvm::Value*& quiet = buffer.is_quiet;
    quiet = builder.CreateICmpNE(builder.CreateAnd(alone, uint64_t{1} << parameter.index), builder.getInt32(0));
    if (!buffer.is_written) continue;
    const auto holds = [&](llvm::Value* condition) { quiet = builder.CreateAnd(quiet, condition); };
    const uint64_t row = buffer.place.row;
    holds(builder.CreateICmpEQ(grid(2), builder.getInt32(1)));
    holds(builder.CreateICmpULE(grid(1), builder.getInt32(row == 0 ? 1 : static_cast<uint32_t>((kNumbers - 1) / row))));
    if (row != 0) holds(builder.CreateICmpULE(grid(0), builder.getInt32(static_cast<uint32_t>(row))));
  }
}

llvm::Value* QuietBuffers::is_quiet(const llvm::Value* pointer) const {
  llvm::SmallVector<const llvm::Value*> origins;
  llvm::getUnderlyingObjects(pointer, origins, nullptr, 0);
  const auto* argument = origins.size() == 1 ? llvm::dyn_cast<llvm::Argument>(origins.front()) : nullptr;
  const auto found = argument != nullptr ? buffers_.find(argument) : buffers_.end();
  return found != buffers_.end() ? found->second.is_quiet : nullptr;
}

}  // namespace smelt::aot::cpu
