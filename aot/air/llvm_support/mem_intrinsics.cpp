// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/mem_intrinsics.hpp"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/LowerMemIntrinsics.h"

#include <algorithm>

namespace smelt::aot {
namespace {

constexpr unsigned kThread = 0, kDevice = 1, kThreadgroup = 3;  // AIR's address spaces
constexpr uint64_t kMostInValues = 64;                          ///< bytes: a matrix of floats

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

}  // namespace

bool becomes_call(const llvm::MemIntrinsic& intrinsic) {
  constexpr uint64_t kInlineBytes = 128;  // both code generators expand constant lengths up to this in place
  const auto* length = llvm::dyn_cast<llvm::ConstantInt>(intrinsic.getLength());
  return !length || length->getZExtValue() > kInlineBytes;
}

bool expand_as_loop(llvm::MemIntrinsic& intrinsic, const llvm::TargetTransformInfo& costs) {
  if (auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&intrinsic))
    llvm::expandMemCpyAsLoop(copy, costs);
  else if (auto* set = llvm::dyn_cast<llvm::MemSetInst>(&intrinsic))
    llvm::expandMemSetAsLoop(set);
  else if (!llvm::expandMemMoveAsLoop(llvm::cast<llvm::MemMoveInst>(&intrinsic), costs))
    return false;
  intrinsic.eraseFromParent();
  return true;
}

bool copy_by_values(llvm::MemCpyInst& copy) {
  if (apple_copies(copy.getDestAddressSpace(), copy.getSourceAddressSpace())) return false;
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

}  // namespace smelt::aot
