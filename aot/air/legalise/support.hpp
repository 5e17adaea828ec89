// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What passes share: error places, calls of AIR operations, entry points with a new signature.
#pragma once

#include "kernel_ir/attributes.hpp"
#include "legalise/passes.hpp"
#include "llvm_support/format.hpp"
#include "ops/intrinsics.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace smelt::aot::air {

/// AIR's address spaces (docs/formats/air.md 2).
enum Space : unsigned { kThread = 0, kDevice = 1, kConstant = 2, kThreadgroup = 3 };

/// "function 'k': %x = fdiv double %a, %b (k.cl:12)", cut to a line.
std::string place_of(const llvm::Instruction& instruction);
std::string text_of(const llvm::Type& type);

/// compile_failed, naming the instruction.
template <class... Args>
tl::unexpected<Error> refuse(const llvm::Instruction& at, fmt::format_string<Args...> format, Args&&... args) {
  return fail(Errc::compile_failed, "{}; at {}", fmt::format(format, std::forward<Args>(args)...), place_of(at));
}

/// A call of an AIR operation, declared as the table says. Fails where the target lacks it.
Result<llvm::CallInst*> call_air(llvm::IRBuilderBase& builder, const PassContext& context, std::string_view name,
                                 llvm::ArrayRef<llvm::Value*> arguments);

/// Calls `declared` in the place of `call`, which is erased; its name, uses, convergence, tail call kind and fast-math
/// flags move to the new call.
void replace_call(llvm::CallInst& call, llvm::Function& declared, llvm::ArrayRef<llvm::Value*> arguments);

/// The entry with other parameters, in its place and with its name, body, attributes and metadata; the old one is gone.
/// `from_old[i]` is the index of the old parameter that new parameter i continues (its attributes and uses move along
/// when the types agree), or -1. Old parameters that nothing continues must have no uses left.
llvm::Function* replace_entry(PassContext& context, llvm::ArrayRef<llvm::Type*> parameters,
                              llvm::ArrayRef<int> from_old);

/// Whether `!air.kernel` (or another stage) already describes the entry; then nothing about it is made up.
bool has_entry_metadata(const PassContext& context);

/// All instructions of all definitions, gathered first so that the caller may change them.
std::vector<llvm::Instruction*> instructions_of(llvm::Module& module);

/// What AIR's memory holds as it is: whole bytes, vectors of 2 to 4, matrices, pointers, arrays and structs of those.
bool is_plain_memory(const llvm::Type* type);
bool mentions_bfloat(const llvm::Type* type);

/// The first insertion point behind the allocas of the entry block.
llvm::BasicBlock::iterator after_allocas(llvm::Function& function);
/// An alloca at the head of the function.
llvm::AllocaInst* make_alloca(llvm::Function& function, llvm::Type* type, const llvm::Twine& name);

}  // namespace smelt::aot::air
