// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the two builtin lowerings (OpenCL C, NVVM) share: making kernel IR in place of a call.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <string>
#include <string_view>

namespace smelt::aot::input {

/// A call of an air.* operation. `across_lanes`: convergent, else pure.
llvm::CallInst* call_air(llvm::IRBuilderBase& builder, std::string_view name, llvm::Type* result,
                         llvm::ArrayRef<llvm::Value*> arguments, bool across_lanes);

/// Writes the replacement of one call in front of it.
class Replacement {
 public:
  explicit Replacement(llvm::CallInst& call) : call_(call), builder_(&call) {}

  llvm::IRBuilder<>& ir() { return builder_; }
  llvm::CallInst& call() { return call_; }
  llvm::Value* argument(unsigned index) { return call_.getArgOperand(index); }
  llvm::Type* type() { return call_.getType(); }

  /// A hardware value; `component` 'x', 'y', 'z', or 0 for a scalar. Widened to `type`.
  llvm::Value* hardware(std::string_view attribute, char component, llvm::Type* type);
  /// A hardware vector's component by a run-time index; 3 and above give `otherwise`.
  llvm::Value* hardware_at(std::string_view attribute, llvm::Value* index, uint64_t otherwise, llvm::Type* type);
  /// call_air() with the flags of the call.
  llvm::Value* air(std::string_view name, llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments,
                   bool across_lanes);
  /// air.wg.barrier or air.simdgroup.barrier over these memory flags (1 device, 2 threadgroup, 4 texture).
  void barrier(bool simdgroup, unsigned flags);
  /// Lane operands are i16.
  llvm::Value* lane(llvm::Value* value) { return builder_.CreateZExtOrTrunc(value, builder_.getInt16Ty()); }

  /// Puts `value` (null for void) in the call's place.
  void finish(llvm::Value* value);

 private:
  llvm::CallInst& call_;
  llvm::IRBuilder<> builder_;
};

/// "f32", "v4f16", "s.i32", "u.v2i8": how AIR's names say a type. Empty for types that they cannot.
std::string air_suffix(llvm::Type* type, bool is_signed, bool says_sign);

/// Calls `lower` for every call of a declaration; it returns whether it knew the callee (and then replaced the call).
/// Declarations left without uses go.
template <class Lower>
void lower_calls(llvm::Module& module, std::string_view prefix, Lower&& lower) {
  std::vector<llvm::Function*> candidates;
  for (llvm::Function& function : module)
    if (function.isDeclaration() && function.getName().starts_with(prefix)) candidates.push_back(&function);
  for (llvm::Function* function : candidates) {
    std::vector<llvm::CallInst*> calls;
    for (llvm::User* user : function->users())
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(user); call && call->getCalledFunction() == function)
        calls.push_back(call);
    for (llvm::CallInst* call : calls) {
      Replacement replacement(*call);
      lower(replacement, *function);
    }
    if (function->use_empty()) function->eraseFromParent();
  }
}

}  // namespace smelt::aot::input
