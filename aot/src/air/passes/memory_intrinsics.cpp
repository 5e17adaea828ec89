// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// memcpy and memset in the forms that Apple's compiler writes stay; the rest becomes loops. Lifetimes go: dropping them
// is always right, and LLVM 22's one-argument form crashes Apple's front end (docs/formats/air.md 3.5).
//
//   kept    llvm.memcpy between spaces 0, 1 and 3 and from 2; llvm.memset of space 0
//   loads   of them, small copies between spaces where Apple's compiler has no llvm.memcpy: a value is loaded and
//   stored
#include "air/passes/support.hpp"
#include "llvm_support/mem_intrinsics.hpp"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <algorithm>

namespace smelt::aot::air {
namespace {

bool is_kept_copy(const llvm::MemIntrinsic& call) {
  if (const auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&call))
    return copy->getIntrinsicID() == llvm::Intrinsic::memcpy && copy->getDestAddressSpace() != kConstant;
  return call.getIntrinsicID() == llvm::Intrinsic::memset && call.getDestAddressSpace() == kThread;
}

constexpr uint64_t kMostInValues = 64;  ///< bytes: a matrix of floats

/// Apple's modules have copies between these spaces as llvm.memcpy.
bool apple_copies(unsigned to, unsigned from) {
  return (to == kThread && (from == kThread || from == kDevice)) || (to == kDevice && from == kThread) ||
         (to == kThreadgroup && (from == kThread || from == kDevice));
}

/// The widest value of up to 16 bytes that both sides are aligned for and that fits.
llvm::Type* widest(llvm::LLVMContext& context, llvm::Align align, uint64_t left) {
  const uint64_t most = std::min<uint64_t>(align.value(), llvm::bit_floor(left));
  if (most >= 16) return llvm::FixedVectorType::get(llvm::Type::getInt32Ty(context), 4);
  if (most >= 8) return llvm::FixedVectorType::get(llvm::Type::getInt32Ty(context), 2);
  return llvm::Type::getIntNTy(context, static_cast<unsigned>(most * 8));
}

/// Loads everything before the first store, so that a copy of an object to itself stays one. False: it is not small.
bool copy_by_values(llvm::MemCpyInst& copy) {
  const auto* length = llvm::dyn_cast<llvm::ConstantInt>(copy.getLength());
  if (length == nullptr || copy.isVolatile() || length->getValue().ugt(kMostInValues)) return false;
  const uint64_t size = length->getZExtValue();
  const llvm::Align align = std::min(copy.getDestAlign().valueOrOne(), copy.getSourceAlign().valueOrOne());
  if (size > 16 * align.value()) return false;
  // What the copy says of aliasing holds for its parts; types of its members do not.
  llvm::AAMDNodes aliases = copy.getAAMetadata();
  aliases.TBAA = aliases.TBAAStruct = nullptr;
  llvm::IRBuilder<> builder(&copy);
  llvm::SmallVector<std::pair<uint64_t, llvm::LoadInst*>, 8> parts;
  for (uint64_t at = 0; at < size;) {
    llvm::Type* const type = widest(copy.getContext(), align, size - at);
    llvm::Value* const from = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), copy.getRawSource(), at);
    llvm::LoadInst* const part = builder.CreateAlignedLoad(type, from, llvm::commonAlignment(align, at));
    part->setAAMetadata(aliases);
    parts.emplace_back(at, part);
    at += type->getPrimitiveSizeInBits() / 8;
  }
  for (const auto& [at, part] : parts) {
    llvm::Value* const to = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), copy.getRawDest(), at);
    builder.CreateAlignedStore(part, to, llvm::commonAlignment(align, at))->setAAMetadata(aliases);
  }
  copy.eraseFromParent();
  return true;
}

void widen_length(llvm::MemIntrinsic& call) {
  if (call.getLength()->getType()->isIntegerTy(64)) return;
  llvm::IRBuilder<> builder(&call);
  llvm::Value* length = builder.CreateZExt(call.getLength(), builder.getInt64Ty());
  llvm::CallInst* wide = nullptr;
  if (auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&call))
    wide = builder.CreateMemCpy(copy->getRawDest(), copy->getDestAlign(), copy->getRawSource(), copy->getSourceAlign(),
                                length, copy->isVolatile());
  else
    wide = builder.CreateMemSet(call.getRawDest(), llvm::cast<llvm::MemSetInst>(call).getValue(), length,
                                call.getDestAlign(), call.isVolatile());
  wide->copyMetadata(call);
  call.eraseFromParent();
}

}  // namespace

Result<void> memory_intrinsics(PassContext& context) {
  for (llvm::Instruction* instruction : instructions_of(context.module)) {
    if (auto* marker = llvm::dyn_cast<llvm::IntrinsicInst>(instruction)) {
      const llvm::Intrinsic::ID id = marker->getIntrinsicID();
      const bool is_lifetime = id == llvm::Intrinsic::lifetime_start || id == llvm::Intrinsic::lifetime_end ||
                               id == llvm::Intrinsic::invariant_end || id == llvm::Intrinsic::invariant_start;
      if (is_lifetime && marker->use_empty()) {
        marker->eraseFromParent();
        continue;
      }
    }
    auto* call = llvm::dyn_cast<llvm::MemIntrinsic>(instruction);
    if (!call) continue;
    auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(call);
    if (copy != nullptr && is_kept_copy(*copy) &&
        !apple_copies(copy->getDestAddressSpace(), copy->getSourceAddressSpace()) && copy_by_values(*copy))
      continue;
    if (is_kept_copy(*call)) {
      widen_length(*call);
      continue;
    }
    const llvm::TargetTransformInfo costs(context.module.getDataLayout());
    if (llvm::isa<llvm::MemCpyInst>(call) && call->getDestAddressSpace() == kConstant)
      return refuse(*call, "writes constant memory");
    if (!expand_as_loop(*call, costs))
      return refuse(*call, "moves between address spaces that may overlap; AIR has no such operation");
  }
  return {};
}

}  // namespace smelt::aot::air
