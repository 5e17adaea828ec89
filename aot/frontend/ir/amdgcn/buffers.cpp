// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory behind a buffer resource (docs/formats/triton-amdgcn.md 4.2): an access past the resource's length reads 0 and
// writes nothing. Triton's masks rely on it (the offset of a lane that is off lies far outside), so it is a branch
// here, and LLVM folds the test to the mask.
#include "ir/amdgcn/convergence.hpp"
#include "ir/amdgcn/site.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <algorithm>

namespace smelt::aot::input::amdgcn {
namespace {

using llvm::Value;

/// The call that made the resource; an error when it is not made in one place.
Result<llvm::CallInst*> resource_of(Site& site, unsigned operand) {
  auto* made = llvm::dyn_cast<llvm::CallInst>(site.argument(operand)->stripPointerCasts());
  if (!made || !amd_name(*made).starts_with("make.buffer.rsrc"))
    return site.refuse("its resource does not come from make.buffer.rsrc directly");
  const auto* stride = llvm::dyn_cast<llvm::ConstantInt>(made->getArgOperand(1));
  if (!stride || !stride->isZero()) return site.refuse("only raw buffers (stride 0) are supported");
  return made;
}

/// The operands of one access, behind its data.
struct Access {
  Value* in_range = nullptr;
  Value* address = nullptr;
  bool is_volatile = false;
};

constexpr uint64_t kSwizzled = 8;
constexpr uint64_t kVolatile = 0x80000000;

/// `first`: the index of the resource operand; offset, scalar offset and cache bits follow it.
Result<Access> access_of(Site& site, unsigned first, uint64_t bytes) {
  SMELT_TRY(llvm::CallInst* const resource, resource_of(site, first));
  llvm::IRBuilder<>& ir = site.ir();
  Value* const offset = site.argument(first + 1);
  const auto cache_bits = site.constant(first + 3);
  if (!cache_bits) return site.refuse("the cache bits must be a constant");
  if (*cache_bits & kSwizzled) return site.refuse("swizzled buffers are not supported");
  Access access;
  access.is_volatile = (*cache_bits & kVolatile) != 0;
  Value* const wide = ir.CreateZExt(offset, ir.getInt64Ty());
  Value* const records = resource->getArgOperand(2);
  if (const auto* length = llvm::dyn_cast<llvm::ConstantInt>(records)) {
    const uint64_t all = length->getZExtValue();
    if (all < bytes)
      access.in_range = ir.getFalse();
    else if (all - bytes >= 0xffffffffu)
      access.in_range = ir.getTrue();
    else
      access.in_range = ir.CreateICmpULE(offset, ir.getInt32(static_cast<uint32_t>(all - bytes)));
  } else {
    Value* const end = ir.CreateAdd(wide, ir.getInt64(bytes));
    access.in_range = ir.CreateICmpULE(end, ir.CreateZExt(records, ir.getInt64Ty()));
  }
  access.address = ir.CreateGEP(ir.getInt8Ty(), resource->getArgOperand(0), wide);
  const auto scalar_offset = site.constant(first + 2);
  if (!scalar_offset || *scalar_offset != 0)
    access.address =
        ir.CreateGEP(ir.getInt8Ty(), access.address, ir.CreateZExt(site.argument(first + 2), ir.getInt64Ty()));
  return access;
}

uint64_t bytes_of(Site& site, llvm::Type* type) {
  return site.call().getModule()->getDataLayout().getTypeStoreSize(type);
}

/// What a resource's accesses may count on: their elements', and no more than a word's.
llvm::Align align_of(Site& site, llvm::Type* type) {
  return std::min(llvm::Align(4), site.call().getModule()->getDataLayout().getABITypeAlign(type->getScalarType()));
}

/// `inside(builder)` where the access is in range; its value, or zero.
template <class Inside>
Value* where_in_range(Site& site, const Access& access, llvm::Type* result, Inside inside) {
  llvm::Instruction* const call = &site.call();
  llvm::BasicBlock* const before = call->getParent();
  llvm::Instruction* const then = llvm::SplitBlockAndInsertIfThen(access.in_range, call->getIterator(), false);
  llvm::IRBuilder<> ir(then);
  Value* const value = inside(ir);
  if (!result) return nullptr;
  ir.SetInsertPoint(call);
  llvm::PHINode* const merged = llvm::PHINode::Create(result, 2, "", call->getParent()->begin());
  merged->addIncoming(value, then->getParent());
  merged->addIncoming(llvm::Constant::getNullValue(result), before);
  return merged;
}

/// raw.ptr.buffer.load(resource, offset, scalar offset, cache bits)
Result<Value*> load(Site& site) {
  llvm::Type* const type = site.type();
  SMELT_TRY(const Access access, access_of(site, 0, bytes_of(site, type)));
  const llvm::Align align = align_of(site, type);
  return where_in_range(site, access, type, [&](llvm::IRBuilder<>& ir) {
    return ir.CreateAlignedLoad(type, access.address, align, access.is_volatile);
  });
}

/// raw.ptr.buffer.store(value, resource, offset, scalar offset, cache bits)
Result<Value*> store(Site& site) {
  Value* const value = site.argument(0);
  SMELT_TRY(const Access access, access_of(site, 1, bytes_of(site, value->getType())));
  const llvm::Align align = align_of(site, value->getType());
  return where_in_range(site, access, nullptr, [&](llvm::IRBuilder<>& ir) {
    return ir.CreateAlignedStore(value, access.address, align, access.is_volatile);
  });
}

/// raw.ptr.buffer.atomic.OPERATION(value, resource, ...)
template <llvm::AtomicRMWInst::BinOp operation>
Result<Value*> atomic(Site& site) {
  Value* const value = site.argument(0);
  SMELT_TRY(const Access access, access_of(site, 1, bytes_of(site, value->getType())));
  const auto agent = site.call().getContext().getOrInsertSyncScopeID("agent");
  return where_in_range(site, access, value->getType(), [&](llvm::IRBuilder<>& ir) {
    return ir.CreateAtomicRMW(operation, access.address, value, llvm::MaybeAlign(), llvm::AtomicOrdering::Monotonic,
                              agent);
  });
}

/// raw.ptr.buffer.atomic.cmpswap(value, expected, resource, ...)
Result<Value*> compare_and_swap(Site& site) {
  Value* const value = site.argument(0);
  SMELT_TRY(const Access access, access_of(site, 2, bytes_of(site, value->getType())));
  const auto agent = site.call().getContext().getOrInsertSyncScopeID("agent");
  return where_in_range(site, access, value->getType(), [&](llvm::IRBuilder<>& ir) {
    Value* const pair = ir.CreateAtomicCmpXchg(access.address, site.argument(1), value, llvm::MaybeAlign(),
                                               llvm::AtomicOrdering::Monotonic, llvm::AtomicOrdering::Monotonic, agent);
    return ir.CreateExtractValue(pair, 0);
  });
}

using Rmw = llvm::AtomicRMWInst;
constexpr Row kBufferRows[] = {
    {"raw.ptr.buffer.load", load},
    {"raw.ptr.buffer.store", store},
    {"raw.ptr.buffer.atomic.swap", atomic<Rmw::Xchg>},
    {"raw.ptr.buffer.atomic.add", atomic<Rmw::Add>},
    {"raw.ptr.buffer.atomic.sub", atomic<Rmw::Sub>},
    {"raw.ptr.buffer.atomic.and", atomic<Rmw::And>},
    {"raw.ptr.buffer.atomic.or", atomic<Rmw::Or>},
    {"raw.ptr.buffer.atomic.xor", atomic<Rmw::Xor>},
    {"raw.ptr.buffer.atomic.smin", atomic<Rmw::Min>},
    {"raw.ptr.buffer.atomic.smax", atomic<Rmw::Max>},
    {"raw.ptr.buffer.atomic.umin", atomic<Rmw::UMin>},
    {"raw.ptr.buffer.atomic.umax", atomic<Rmw::UMax>},
    {"raw.ptr.buffer.atomic.fadd", atomic<Rmw::FAdd>},
    {"raw.ptr.buffer.atomic.fmin", atomic<Rmw::FMin>},
    {"raw.ptr.buffer.atomic.fmax", atomic<Rmw::FMax>},
    {"raw.ptr.buffer.atomic.cmpswap", compare_and_swap},
};

}  // namespace

std::span<const Row> buffer_rows() {
  return kBufferRows;
}

void drop_buffer_resources(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
          call && call->use_empty() && amd_name(*call).starts_with("make.buffer.rsrc"))
        call->eraseFromParent();
}

}  // namespace smelt::aot::input::amdgcn
