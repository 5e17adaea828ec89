// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What no later pass can say in AIR, refused early while its names are still the source's: inline assembly, calls to
// what is not here, function pointers, exceptions, thread-local and volatile-typed oddities. Double precision is
// refused by reject_double, after the optimiser had its chance to make it disappear.
#include "kernel_ir/attributes.hpp"
#include "kernel_ir/builtins.hpp"
#include "kernel_ir/handles.hpp"
#include "legalise/support.hpp"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

/// "llvm.amdgcn.workitem.id.x" -> "amdgcn", when it is the intrinsic of a target.
std::string_view foreign_target(llvm::StringRef name) {
  static constexpr std::string_view kTargets[] = {"aarch64", "amdgcn", "arm", "dx", "hexagon", "nvvm", "ppc",   "r600",
                                                  "riscv",   "s390",   "spv", "ve", "wasm",    "x86",  "xcore", "genx"};
  if (!name.consume_front("llvm.")) return {};
  const llvm::StringRef head = name.take_until([](char c) { return c == '.'; });
  for (const std::string_view target : kTargets)
    if (head == llvm::StringRef(target)) return target;
  return {};
}

Result<void> check_call(const llvm::CallBase& call, bool allow_undefined) {
  if (call.isInlineAsm()) return refuse(call, "inline assembly belongs to the input's target and cannot be translated");
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee) {
    if (llvm::isa<llvm::Function>(call.getCalledOperand()->stripPointerCasts()))
      return refuse(call, "the call's type is not the type of the function it calls");
    if (kernel_ir::is_call_of_table(call)) return {};
    return refuse(call, "calls through a pointer; AIR has only direct calls and calls of functions in a table");
  }
  const llvm::StringRef name = callee->getName();
  if (const std::string_view target = foreign_target(name); !target.empty())
    return refuse(call, "'{}' is an intrinsic of {}; the reader does not translate this dialect", name, target);
  if (callee->isDeclaration() && !kernel_ir::is_operation(name) && !allow_undefined) {
    if (const llvm::Attribute told = callee->getFnAttribute(kernel_ir::kUndefined); told.isValid())
      return fail(Errc::compile_failed, "{}", told.getValueAsString());
    const std::string readable = llvm::demangle(name);
    return refuse(call, "calls '{}'{}, which is neither defined in the module nor an AIR operation", name,
                  llvm::StringRef(readable) == name ? "" : fmt::format(" ({})", readable));
  }
  if (callee->isVarArg() && !callee->isIntrinsic())
    return refuse(call, "calls '{}', which takes variable arguments", name);
  return {};
}

Result<void> check(const llvm::Instruction& instruction, bool allow_undefined) {
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) return check_call(*call, allow_undefined);
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Invoke:
    case llvm::Instruction::Resume:
    case llvm::Instruction::LandingPad:
    case llvm::Instruction::CatchPad:
    case llvm::Instruction::CleanupPad:
    case llvm::Instruction::CatchSwitch:
      return refuse(instruction, "exceptions do not exist on a GPU");
    case llvm::Instruction::IndirectBr:
    case llvm::Instruction::CallBr:
      return refuse(instruction, "computed jumps do not exist in AIR");
    case llvm::Instruction::VAArg:
      return refuse(instruction, "variable arguments do not exist in AIR");
    default:
      break;
  }
  if (instruction.getType()->isScalableTy()) return refuse(instruction, "a scalable vector has no AIR type");
  if (instruction.getType()->isTargetExtTy())
    return refuse(instruction, "{} is a type of another target", text_of(*instruction.getType()));
  return {};
}

}  // namespace

Result<void> reject_foreign(PassContext& context) {
  llvm::Module& module = context.module;
  for (const llvm::GlobalVariable& global : module.globals()) {
    if (global.isThreadLocal())
      return fail(Errc::compile_failed, "global '{}' is thread-local; AIR has no such storage", global.getName());
    if (global.getName() == "llvm.global_ctors")
      return fail(Errc::compile_failed, "the module has static constructors; nothing runs them on a GPU");
  }
  if (!module.ifunc_empty()) return fail(Errc::compile_failed, "the module has ifuncs; AIR has none");
  while (!module.alias_empty()) {
    llvm::GlobalAlias& alias = *module.alias_begin();
    alias.replaceAllUsesWith(alias.getAliasee());
    alias.eraseFromParent();
  }
  if (!context.entry->getReturnType()->isVoidTy() && context.stage == "kernel")
    return fail(Errc::compile_failed, "kernel '{}' returns {}; a kernel returns nothing", context.entry->getName(),
                text_of(*context.entry->getReturnType()));
  if (context.entry->isVarArg())
    return fail(Errc::compile_failed, "kernel '{}' takes variable arguments", context.entry->getName());
  for (const llvm::Instruction* instruction : instructions_of(module))
    SMELT_TRY_VOID(check(*instruction, context.options.allow_undefined));
  return {};
}

}  // namespace smelt::aot::air
