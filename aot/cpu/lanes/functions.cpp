// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lanes/functions.hpp"

#include "abi/memory_function.hpp"
#include "lanes/emit.hpp"
#include "lanes/legal.hpp"
#include "llvm_support/format.hpp"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::cpu::lanes {
namespace {

llvm::SmallVector<Shape, 16> varying_arguments(const llvm::Function& function) {
  return llvm::SmallVector<Shape, 16>(function.arg_size(), Shape::varying());
}

}  // namespace

uint64_t row_bytes(llvm::Type* vector, const llvm::DataLayout& layout) {
  return llvm::alignTo(layout.getTypeStoreSize(vector).getFixedValue(), kRowAlignment);
}

Result<void> LaneFunctions::check(llvm::Function& function) {
  const auto known = checked_.find(&function);
  if (known != checked_.end()) return known->second;
  const Analysis analysis(function, varying_arguments(function), kSimdWidth);
  return checked_[&function] = check_supported(function, analysis, kSimdWidth);
}

llvm::Function* LaneFunctions::get(llvm::Function& function, llvm::ArrayRef<llvm::Constant*> known, bool masked,
                                   const EmitOptions& options) {
  llvm::Function*& made = made_[{&function, masked, known.vec()}];
  if (made) return made;
  llvm::LLVMContext& context = function.getContext();
  llvm::Type* const pointer = llvm::PointerType::get(context, 0);
  llvm::SmallVector<llvm::Type*, 16> types{pointer};
  for (const llvm::Constant* one : known)
    if (!one) types.push_back(pointer);
  if (masked) types.push_back(llvm::Type::getInt32Ty(context));
  const std::string name =
      fmt::format("{}.{}.{}", function.getName().str(), masked ? "some_lanes" : "all_lanes", made_.size());
  made = make_memory_function(*function.getParent(), name, types);
  made->addFnAttr(kStaysCalled);
  made->setOnlyAccessesArgMemory();
  made->addParamAttr(0, llvm::Attribute::WriteOnly);

  const Analysis analysis(function, varying_arguments(function), kSimdWidth);
  GangEmitter emitter(function, *made, analysis, options);
  unsigned next = 1;
  for (unsigned i = 0; i < known.size(); ++i) {
    if (known[i]) {
      emitter.set_parts(function.getArg(i), {known[i]});
      continue;
    }
    made->addParamAttr(next, llvm::Attribute::ReadOnly);
    emitter.set_rows(function.getArg(i), made->getArg(next++));
  }
  if (masked) {
    auto* const mask = llvm::FixedVectorType::get(llvm::Type::getInt1Ty(context), kSimdWidth);
    emitter.set_entry_mask(emitter.builder().CreateBitCast(made->getArg(next), mask), nullptr);
  }
  emitter.set_result(made->getArg(0));
  emitter.run();
  return made;
}

void LaneFunctions::forget() {
  for (const auto& [key, function] : made_) function->eraseFromParent();
  made_.clear();
}

}  // namespace smelt::aot::cpu::lanes
