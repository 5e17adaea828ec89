// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything but the entry becomes internal. A helper stays a function (internal fastcc, as in Apple's own modules)
// unless AIR cannot express it as one: then it is inlined. That is so when it reads hardware values (they are arguments
// of the entry), when it takes or returns generic pointers (they may point to device memory, which only inlining
// shows; where the front end has looked, it says so: kKept), and when a parameter or its result has no AIR type.
#include "kernel_ir/builtins.hpp"
#include "legalise/support.hpp"
#include "llvm_support/analyses.hpp"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

#include <set>

namespace smelt::aot::air {
namespace {

bool reads_builtins(const llvm::Function& function) {
  for (const llvm::BasicBlock& block : function)
    for (const llvm::Instruction& instruction : block)
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (const llvm::Function* callee = call->getCalledFunction())
          if (kernel_ir::parse_builtin_call(callee->getName())) return true;
  return false;
}

bool passes_as_is(const llvm::Type* type, bool may_be_thread_memory) {
  if (type->isVoidTy()) return true;
  if (type->isPointerTy()) return may_be_thread_memory || type->getPointerAddressSpace() != kThread;
  const auto known = air_type(type);
  return known && (known->lanes <= 4 || (known->lanes == 64 && known->is_float()));
}

bool must_inline(const llvm::Function& function) {
  if (!passes_as_is(function.getReturnType(), false)) return true;
  const bool is_kept = function.hasFnAttribute(kernel_ir::kKept);
  for (const llvm::Argument& argument : function.args())
    if (!passes_as_is(argument.getType(), is_kept)) return true;
  return reads_builtins(function);
}

/// Functions that call themselves, directly or round a corner.
std::set<std::string> recursive_functions(llvm::Module& module) {
  std::set<std::string> names;
  llvm::CallGraph graph(module);
  for (auto scc = llvm::scc_begin(&graph); !scc.isAtEnd(); ++scc)
    if (scc.hasCycle())
      for (const llvm::CallGraphNode* node : *scc)
        if (const llvm::Function* function = node->getFunction()) names.insert(function->getName().str());
  return names;
}

bool only_called(const llvm::Function& function) {
  for (const llvm::Use& use : function.uses()) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
    if (!call || !call->isCallee(&use)) return false;
  }
  return true;
}

void make_fastcc(llvm::Function& function) {
  if (!only_called(function)) return;
  function.setCallingConv(llvm::CallingConv::Fast);
  for (llvm::User* user : function.users()) llvm::cast<llvm::CallBase>(user)->setCallingConv(llvm::CallingConv::Fast);
}

/// The inliner declares a scope for each parameter that has no alias; AIR has no such declarations.
void drop_alias_scopes(llvm::Module& module) {
  for (llvm::Instruction* instruction : instructions_of(module))
    if (llvm::isa<llvm::NoAliasScopeDeclInst>(instruction)) instruction->eraseFromParent();
}

}  // namespace

Result<void> inline_helpers(PassContext& context) {
  llvm::Module& module = context.module;
  for (llvm::GlobalVariable& global : module.globals())
    if (global.hasInitializer() && !global.getName().starts_with("llvm.") && !global.hasAppendingLinkage())
      global.setLinkage(llvm::GlobalValue::InternalLinkage);
  const std::set<std::string> recursive = recursive_functions(module);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    if (&function == context.entry) {
      function.setLinkage(llvm::GlobalValue::ExternalLinkage);
      function.setCallingConv(llvm::CallingConv::C);
      function.setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Local);
      for (llvm::User* user : function.users())
        if (llvm::isa<llvm::CallBase>(user))
          return refuse(*llvm::cast<llvm::Instruction>(user), "the kernel is called as a function");
      continue;
    }
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    const bool is_recursive = recursive.count(function.getName().str()) != 0;
    if (must_inline(function)) {
      if (is_recursive)
        return fail(Errc::compile_failed,
                    "function '{}' calls itself and takes generic pointers, hardware values or types that AIR does not "
                    "have; it would have to be inlined, which recursion forbids",
                    llvm::demangle(function.getName()));
      always_inline(function);
      for (llvm::User* user : function.users())
        if (auto* call = llvm::dyn_cast<llvm::CallBase>(user)) call->removeFnAttr(llvm::Attribute::NoInline);
    } else if (is_recursive) {
      function.removeFnAttr(llvm::Attribute::AlwaysInline);
    }
  }
  inline_marked(module);
  drop_alias_scopes(module);
  drop_unused(module);
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && &function != context.entry) {
      make_fastcc(function);
      function.removeFnAttr(kernel_ir::kKept);
    }
  return {};
}

}  // namespace smelt::aot::air
