// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of air.* that AIR does not have, as back ends write them that say AIR's words before they know its forms
// (metal-ir-pipeline and the Triton forks that end there; docs/reference/inputs.md): hardware values are asked for by
// calls, and the barrier of a threadgroup has MLIR's name.
#include "ir/builtin_calls.hpp"
#include "ir/dialect.hpp"
#include "kernel_ir/builtins.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::input {
namespace {

/// The hardware value that "air.thread_position_in_grid" or "air.thread_position_in_grid.v3i32" names.
const kernel_ir::BuiltinRow* builtin_of(llvm::StringRef name) {
  if (!name.consume_front("air.")) return nullptr;
  return kernel_ir::find_builtin(std::string_view(name.split('.').first));
}

/// The number of integers in [3 x i32], { i32, i32, i32 }, <3 x i32> or i32; 0 for another type.
unsigned count_of(llvm::Type* type) {
  if (type->isIntegerTy()) return 1;
  unsigned count = 0;
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) count = vector->getNumElements();
  if (const auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) count = static_cast<unsigned>(array->getNumElements());
  if (const auto* members = llvm::dyn_cast<llvm::StructType>(type)) count = members->getNumElements();
  if (count == 0 || count > 3) return 0;
  for (unsigned i = 0; i < count; ++i)
    if (!llvm::GetElementPtrInst::getTypeAtIndex(type, uint64_t{i})->isIntegerTy()) return 0;
  return count;
}

/// A position or a size: a number, or up to three of them in whatever holds them. A vector's first when one is wanted.
bool lower_value(Replacement& to, const llvm::Function& callee) {
  const kernel_ir::BuiltinRow* const row = builtin_of(callee.getName());
  const unsigned count = count_of(to.type());
  if (!row || to.call().arg_size() != 0 || count == 0 || (count > 1 && !row->is_vector)) return false;
  if (count == 1 && to.type()->isIntegerTy()) {
    to.finish(to.hardware(row->attribute, row->is_vector ? 'x' : char{0}, to.type()));
    return true;
  }
  llvm::Value* result = llvm::PoisonValue::get(to.type());
  for (unsigned i = 0; i < count; ++i) {
    llvm::Type* const type = llvm::GetElementPtrInst::getTypeAtIndex(to.type(), uint64_t{i});
    llvm::Value* const value = to.hardware(row->attribute, "xyz"[i], type);
    result = to.type()->isVectorTy() ? to.ir().CreateInsertElement(result, value, i)
                                     : to.ir().CreateInsertValue(result, value, i);
  }
  to.finish(result);
  return true;
}

/// air.threadgroup.barrier(flags, scope) is air.wg.barrier. MLIR's (1, 4) means threadgroup memory, which is 2 in AIR;
/// the scope is the threadgroup whatever it says.
bool lower_barrier(Replacement& to, const llvm::Function& callee) {
  if (callee.getName() != "air.threadgroup.barrier" || !to.type()->isVoidTy() || to.call().arg_size() != 2)
    return false;
  const auto* const flags = llvm::dyn_cast<llvm::ConstantInt>(to.argument(0));
  const auto* const scope = llvm::dyn_cast<llvm::ConstantInt>(to.argument(1));
  if (!flags || !scope || flags->getZExtValue() > 7) return false;
  const bool is_mlir = flags->isOne() && scope->getZExtValue() == 4;
  to.barrier(/*simdgroup=*/false, is_mlir ? 2 : static_cast<unsigned>(flags->getZExtValue()));
  to.finish(nullptr);
  return true;
}

}  // namespace

void lower_air_calls(llvm::Module& module, bool has_entries) {
  lower_calls(module, "air.", [&](Replacement& to, const llvm::Function& callee) {
    // A finished entry gets its values as parameters: it has said which, and a call would add to them.
    lower_barrier(to, callee) || (!has_entries && lower_value(to, callee));
  });
}

}  // namespace smelt::aot::input
