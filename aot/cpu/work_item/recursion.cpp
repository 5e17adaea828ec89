// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/recursion.hpp"

#include "abi/dispatch_block.hpp"
#include "abi/further_parameters.hpp"
#include "lower/collectives.hpp"
#include "lower/lower.hpp"
#include "runtime/runtime.hpp"
#include "work_item/checked.hpp"
#include "work_item/fault.hpp"
#include "work_item/lane_functions.hpp"
#include "work_item/long_functions.hpp"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <set>

namespace smelt::aot::cpu {
namespace {

/// The attribute of functions that stay functions, and the front of their names afterwards.
constexpr llvm::StringRef kRecursive = "smelt.recursive";

/// Such a function is called by one thread at a time, whichever way the kernel runs, so it may do nothing that
/// needs the other threads or the launch.
Result<void> check_only_computes(const llvm::Function& function) {
  const llvm::Value* const what = what_needs_others(function);
  if (what == nullptr) return {};
  return fail(Errc::unsupported, "{} calls itself and uses '{}': such recursion is not supported on the CPU",
              function.getName().str(), what->getName().str());
}

/// An empty function with the parameters of `old` and two more.
RecursiveFunction with_depth(llvm::Function& old) {
  llvm::LLVMContext& context = old.getContext();
  llvm::Function* made = with_parameters(old, {llvm::PointerType::get(context, 0), llvm::Type::getInt32Ty(context)},
                                         kRecursive + "." + old.getName());
  // What the function says of its effects is no longer true; what it says of its parameters is how it is called.
  for (const auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::NoUnwind}) made->addFnAttr(attribute);
  for (unsigned i = 0; i < old.arg_size(); ++i)
    made->addParamAttrs(i, llvm::AttrBuilder(context, old.getAttributes().getParamAttrs(i)));
  return {made, made->getArg(made->arg_size() - 2), made->getArg(made->arg_size() - 1)};
}

/// In front of the body: zero is returned at the deepest place and, so that a function which calls itself twice ends
/// soon, everywhere after any fault of the launch.
void guard_depth(const RecursiveFunction& guarded) {
  llvm::Function& function = *guarded.function;
  llvm::LLVMContext& context = function.getContext();
  llvm::BasicBlock* body = &function.getEntryBlock();
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(context, name, &function, body); };
  llvm::BasicBlock* enter = block("enter");
  llvm::BasicBlock* look = block("look");
  llvm::BasicBlock* ask = block("ask");
  llvm::BasicBlock* too_deep = block("too_deep");
  llvm::BasicBlock* leave = block("leave");
  llvm::IRBuilder<> builder(enter);
  builder.CreateCondBr(builder.CreateICmpUGE(guarded.depth, builder.getInt32(kDeepestRecursion)), too_deep, look);
  builder.SetInsertPoint(look);
  llvm::Value* record = SMELT_DISPATCH_FIELD(builder, builder.getPtrTy(), guarded.dispatch, fault);
  builder.CreateCondBr(builder.CreateIsNull(record), body, ask);
  builder.SetInsertPoint(ask);
  llvm::LoadInst* claimed = builder.CreateAlignedLoad(builder.getInt32Ty(), record, llvm::Align(4));
  claimed->setAtomic(llvm::AtomicOrdering::Monotonic);
  builder.CreateCondBr(builder.CreateIsNull(claimed), body, leave);
  builder.SetInsertPoint(too_deep);
  report_fault(builder, guarded.dispatch, {.object = builder.getInt32(SMELT_CPU_FAULT_RECURSION)});
  builder.CreateBr(leave);
  builder.SetInsertPoint(leave);
  llvm::Type* type = function.getReturnType();
  if (type->isVoidTy())
    builder.CreateRetVoid();
  else
    builder.CreateRet(llvm::Constant::getNullValue(type));
  // Only in the first block is an alloca part of the frame.
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(*body))
    if (llvm::isa<llvm::AllocaInst>(instruction)) instruction.moveBefore(*enter, enter->begin());
}

/// The same call of `to`, with the two further arguments.
void redirect(llvm::CallInst& call, llvm::Function& to, llvm::Value* dispatch, llvm::Value* depth) {
  call_instead(call, to, {dispatch, depth})->setAttributes(to.getAttributes());
  call.eraseFromParent();
}

}  // namespace

const llvm::Value* what_needs_others(const llvm::Function& function) {
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    for (const llvm::Use& operand : instruction.operands())
      if (const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(operand->stripPointerCasts()))
        if (!global->isConstant() || !global->hasInitializer()) return global;
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call == nullptr || !call->getCalledFunction()->isDeclaration() || llvm::isa<llvm::IntrinsicInst>(call))
      continue;
    const llvm::Function& callee = *call->getCalledFunction();
    const SupportAnswer answer = support_of(std::string_view(callee.getName()));
    if (answer.support == Support::collective || answer.support == Support::pipeline ||
        parse_collective(std::string_view(callee.getName())) || callee.getName().starts_with("air.os_log"))
      return &callee;
  }
  return nullptr;
}

bool is_recursive(const llvm::Function& function) {
  return function.hasFnAttribute(kRecursive);
}

Result<void> keep_recursion(llvm::Module& module) {
  for (const llvm::Function& function : module)
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr) continue;
      if (call->isInlineAsm()) return fail(Errc::unsupported, "inline assembly is not supported on the CPU");
      if (call->getCalledFunction() == nullptr)
        return fail(Errc::unsupported, "{} calls through a function pointer: not supported on the CPU",
                    function.getName().str());
    }
  llvm::SmallVector<llvm::Function*> kept;
  std::set<const llvm::CallGraphNode*> seen;
  llvm::CallGraph graph(module);
  for (const llvm::Function& root : module) {  // all are internal here: the graph's own root reaches none
    llvm::CallGraphNode* const start = graph[&root];
    if (seen.count(start) != 0) continue;
    for (auto cycle = llvm::scc_begin(start); !cycle.isAtEnd(); ++cycle)
      for (const llvm::CallGraphNode* node : *cycle)
        if (seen.insert(node).second && cycle.hasCycle() && node->getFunction() != nullptr)
          kept.push_back(node->getFunction());
  }
  for (llvm::Function* function : kept) {
    function->addFnAttr(kRecursive);
    function->addFnAttr(llvm::Attribute::NoInline);
  }
  for (llvm::Function* function : kept) {
    SMELT_TRY_VOID(inline_calls(*function));
    SMELT_TRY_VOID(check_only_computes(*function));
  }
  return {};
}

Result<void> inline_calls(llvm::Function& function) {
  for (;;) {
    llvm::SmallVector<llvm::CallBase*> calls;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (const llvm::Function* callee = call->getCalledFunction();
            callee != nullptr && !callee->isDeclaration() && !is_recursive(*callee) && !is_lane_function(*callee) &&
            !is_long_function(*callee) && !stays_called(*callee))
          calls.push_back(call);
    if (calls.empty()) return {};
    for (llvm::CallBase* call : calls) {
      const std::string name = call->getCalledFunction()->getName().str();
      llvm::InlineFunctionInfo info;
      const llvm::InlineResult done = llvm::InlineFunction(*call, info);
      if (!done.isSuccess()) return fail(Errc::unsupported, "{} cannot be inlined: {}", name, done.getFailureReason());
    }
  }
}

std::vector<RecursiveFunction> bound_recursion(llvm::Function& kernel, llvm::Value& dispatch) {
  llvm::SmallVector<llvm::Function*> marked;
  for (llvm::Function& function : *kernel.getParent())
    if (!function.isDeclaration() && function.hasFnAttribute(kRecursive)) marked.push_back(&function);
  std::vector<RecursiveFunction> bounded;
  for (llvm::Function* old : marked) {
    bounded.push_back(with_depth(*old));
    take_body(*bounded.back().function, *old);
  }
  for (size_t i = 0; i < marked.size(); ++i) {
    llvm::Function& to = *bounded[i].function;
    for (llvm::User* user : llvm::make_early_inc_range(marked[i]->users())) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      if (call == nullptr || call->getCalledOperand() != marked[i]) continue;
      llvm::IRBuilder<> builder(call);
      if (call->getFunction() == &kernel) {
        redirect(*call, to, &dispatch, builder.getInt32(0));
        continue;
      }
      const auto caller =
          llvm::find_if(bounded, [&](const RecursiveFunction& one) { return one.function == call->getFunction(); });
      redirect(*call, to, caller->dispatch, builder.CreateAdd(caller->depth, builder.getInt32(1)));
    }
    marked[i]->replaceAllUsesWith(&to);  // an address that nobody calls
    marked[i]->eraseFromParent();
  }
  for (const RecursiveFunction& function : bounded) guard_depth(function);
  return bounded;
}

Result<void> check_recursion(const std::vector<RecursiveFunction>& functions) {
  for (const RecursiveFunction& one : functions) {
    for (const llvm::Argument& argument : one.function->args())
      if (argument.getType()->isPtrOrPtrVectorTy() && &argument != one.dispatch)
        return fail(
            Errc::unsupported,
            "{} calls itself and takes a pointer, whose bounds it cannot know; checked code does not support this",
            one.function->getName().drop_front(kRecursive.size() + 1).str());
    SMELT_TRY_VOID(check_accesses(*one.function, *one.dispatch));
  }
  return {};
}

bool is_recursive_symbol(llvm::StringRef name) {
  return name.starts_with(kRecursive);
}

}  // namespace smelt::aot::cpu
