// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/function_tables.hpp"

#include "smelt/schema/cpu_abi.h"

#include "allow_list/allow_list.hpp"
#include "interface/entry.hpp"
#include "ir_reader/parse.hpp"
#include "kernel_ir/handles.hpp"
#include "llvm_support/diagnostics.hpp"
#include "llvm_support/format.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <array>
#include <map>

namespace smelt::aot::cpu {
namespace {

constexpr llvm::StringLiteral kSize = "air.get_size_visible_function_table";
constexpr llvm::StringLiteral kIsNull = "air.is_null_visible_function_table";
constexpr llvm::StringLiteral kFunction = "air.get_function_pointer_visible_function_table";
constexpr llvm::StringLiteral kPrefix = "smelt.visible.";

std::string printed(const llvm::FunctionType& type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  type.print(stream);
  return text;
}

std::vector<llvm::CallInst*> calls_of(llvm::Module& module, llvm::StringRef name) {
  std::vector<llvm::CallInst*> calls;
  llvm::Function* const operation = module.getFunction(name);
  if (operation == nullptr) return calls;
  for (llvm::User* const user : operation->users())
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(user); call != nullptr && call->getCalledFunction() == operation)
      calls.push_back(call);
  return calls;
}

llvm::Value* load_at(llvm::IRBuilder<>& builder, llvm::Type* type, llvm::Value* table, llvm::Value* offset) {
  llvm::Value* const address = builder.CreateGEP(builder.getInt8Ty(), table, offset);
  return builder.CreateAlignedLoad(type, address, llvm::Align(4));
}

class TableBinder {
 public:
  TableBinder(llvm::Module& module, std::span<const AirModuleView> visible) : module_(module), visible_(visible) {}

  Result<void> bind() {
    for (llvm::CallInst* const call : calls_of(module_, kSize))
      SMELT_TRY_VOID(read_number(*call, offsetof(smelt_cpu_function_table, size)));
    for (llvm::CallInst* const call : calls_of(module_, kIsNull))
      SMELT_TRY_VOID(read_number(*call, offsetof(smelt_cpu_function_table, is_null)));
    const std::vector<llvm::CallInst*> asked = calls_of(module_, kFunction);
    if (asked.empty()) return {};
    SMELT_TRY(const std::vector<llvm::CallInst*> calls, calls_of_tables(asked));
    for (const llvm::CallInst* const call : calls) types_.try_emplace(call->getFunctionType());
    for (const AirModuleView& view : visible_) SMELT_TRY_VOID(link(view));
    SMELT_TRY_VOID(allow_list::admit(module_));  // modules may disagree about what they have in common
    for (llvm::CallInst* const call : calls) SMELT_TRY_VOID(choose(*call));
    for (llvm::CallInst* const call : asked) call->eraseFromParent();
    return {};
  }

 private:
  struct Candidate {
    llvm::Function* function;
    uint64_t id;
  };

  static Result<void> check_shape(const llvm::CallInst& call, unsigned operands) {
    if (call.arg_size() == operands && call.getArgOperand(0)->getType()->isPointerTy() &&
        (operands == 1 || call.getArgOperand(1)->getType()->isIntegerTy(32)))
      return {};
    return fail(Errc::compile_failed, "{}: called as {}", call.getCalledFunction()->getName(),
                printed(*call.getFunctionType()));
  }

  static Result<void> read_number(llvm::CallInst& call, uint64_t offset) {
    SMELT_TRY_VOID(check_shape(call, 1));
    if (!call.getType()->isIntegerTy())
      return fail(Errc::compile_failed, "{}: called as {}", call.getCalledFunction()->getName(),
                  printed(*call.getFunctionType()));
    llvm::IRBuilder<> builder(&call);
    llvm::Value* number = load_at(builder, builder.getInt32Ty(), call.getArgOperand(0), builder.getInt64(offset));
    number = call.getType()->isIntegerTy(1) ? builder.CreateIsNotNull(number)
                                            : builder.CreateZExtOrTrunc(number, call.getType());
    call.replaceAllUsesWith(number);
    call.eraseFromParent();
    return {};
  }

  /// Casts from one type of function to another, which say nothing without types behind pointers.
  static void drop_casts(llvm::CallInst& pointer) {
    llvm::SmallVector<llvm::User*> users(pointer.users());
    while (!users.empty()) {
      auto* const cast = llvm::dyn_cast<llvm::BitCastInst>(users.pop_back_val());
      if (cast == nullptr || cast->getType() != pointer.getType()) continue;
      users.append(cast->user_begin(), cast->user_end());
      cast->replaceAllUsesWith(&pointer);
      cast->eraseFromParent();
    }
  }

  static Result<std::vector<llvm::CallInst*>> calls_of_tables(const std::vector<llvm::CallInst*>& asked) {
    std::vector<llvm::CallInst*> calls;
    for (llvm::CallInst* const call : asked) {
      SMELT_TRY_VOID(check_shape(*call, 2));
      drop_casts(*call);
      for (const llvm::Use& use : call->uses()) {
        auto* const user = llvm::dyn_cast<llvm::CallInst>(use.getUser());
        if (user == nullptr || !user->isCallee(&use) || user->hasOperandBundles())
          return fail(Errc::unsupported, "a function of a table is stored or passed on; CPU code can only call it");
        calls.push_back(user);
      }
    }
    return calls;
  }

  /// A visible function of a type that is called becomes part of the module.
  Result<void> link(const AirModuleView& view) {
    SMELT_TRY(std::unique_ptr<llvm::Module> added, input::parse_into(module_.getContext(), view.bitcode, view.name));
    const auto message = std::make_shared<std::string>();
    install_diagnostics(module_.getContext(), message);
    llvm::Function* const function = find_visible(*added, view.name);
    if (function == nullptr) return {};
    const auto wanted = types_.find(function->getFunctionType());
    if (wanted == types_.end()) return {};
    if (auto admitted = allow_list::admit(*added); !admitted)
      return tl::unexpected(std::move(admitted).error().in(view.name));
    if (!is_alone(*added)) {
      left_out_.try_emplace(function->getFunctionType(), view.name);
      return {};
    }
    const uint64_t id = smelt_cpu_function_id(view.name.data(), view.name.size());
    for (const Candidate& other : wanted->second)
      if (other.id == id)
        return fail(Errc::unsupported, "visible functions '{}' and '{}' cannot be told apart in a table: rename one",
                    view.name, other.function->getName().drop_front(kPrefix.size()));
    for (llvm::Function& other : *added)
      if (!other.isDeclaration()) other.setLinkage(llvm::GlobalValue::InternalLinkage);
    for (llvm::GlobalVariable& variable : added->globals())
      if (!variable.isDeclaration() && !variable.hasAppendingLinkage())
        variable.setLinkage(llvm::GlobalValue::InternalLinkage);
    const std::string name = kPrefix.str() + std::string(view.name);
    function->setName(name);
    function->setLinkage(llvm::GlobalValue::ExternalLinkage);
    for (llvm::NamedMDNode& list : llvm::make_early_inc_range(added->named_metadata())) {
      const bool is_kept = list.getName().starts_with("llvm.") || list.getName() == "air.sampler_states";
      if (!is_kept) added->eraseNamedMetadata(&list);
    }
    if (llvm::Linker::linkModules(module_, std::move(added)) || !message->empty())
      return fail(Errc::compile_failed, "visible function '{}': {}", view.name, *message);
    llvm::Function* const linked = module_.getFunction(name);
    linked->setLinkage(llvm::GlobalValue::InternalLinkage);
    wanted->second.push_back({linked, id});
    return {};
  }

  static llvm::Function* find_visible(const llvm::Module& module, std::string_view name) {
    const llvm::NamedMDNode* const list = air::entry_list(module, air::kVisibleStage);
    if (list == nullptr) return nullptr;
    for (const llvm::MDNode* const node : list->operands())
      if (llvm::Function* const function = air::function_of(*node);
          function != nullptr && !function->isDeclaration() && std::string_view(function->getName()) == name)
        return function;
    return nullptr;
  }

  /// Values of function constants are given to the kernel, and a visible function has its own.
  static bool is_alone(const llvm::Module& module) {
    const llvm::NamedMDNode* const constants = module.getNamedMetadata(air::kConstantList);
    const llvm::GlobalVariable* const initialisers = module.getGlobalVariable("llvm.global_ctors");
    return (constants == nullptr || constants->getNumOperands() == 0) && initialisers == nullptr;
  }

  Result<void> choose(llvm::CallInst& call) {
    const std::vector<Candidate>& candidates = types_[call.getFunctionType()];
    if (const auto left_out = left_out_.find(call.getFunctionType()); candidates.empty() && left_out != left_out_.end())
      return fail(Errc::unsupported,
                  "visible function '{}' reads function constants, so it cannot be called through a table on the CPU",
                  left_out->second);
    if (candidates.empty())
      return fail(Errc::unsupported,
                  "calls a function of a table as {}; the library has no visible function of that type",
                  printed(*call.getFunctionType()));
    const auto* const asked = llvm::cast<llvm::CallInst>(call.getCalledOperand());
    llvm::Value* const table = asked->getArgOperand(0);
    llvm::Value* const index = asked->getArgOperand(1);
    llvm::Function& function = *call.getFunction();
    llvm::LLVMContext& context = module_.getContext();
    llvm::BasicBlock* const before = call.getParent();
    llvm::BasicBlock* const after = before->splitBasicBlock(&call, "table.done");
    llvm::BasicBlock* const look = llvm::BasicBlock::Create(context, "table.look", &function, after);
    llvm::BasicBlock* const none = llvm::BasicBlock::Create(context, "table.none", &function, after);
    before->getTerminator()->eraseFromParent();
    llvm::IRBuilder<> builder(before);
    builder.SetCurrentDebugLocation(call.getDebugLoc());
    llvm::Value* const size =
        load_at(builder, builder.getInt32Ty(), table, builder.getInt64(offsetof(smelt_cpu_function_table, size)));
    builder.CreateCondBr(builder.CreateICmpULT(index, size), look, none);
    builder.SetInsertPoint(look);
    llvm::Value* const offset = builder.CreateAdd(
        builder.CreateMul(builder.CreateZExt(index, builder.getInt64Ty()), builder.getInt64(sizeof(uint64_t))),
        builder.getInt64(offsetof(smelt_cpu_function_table, functions)));
    llvm::SwitchInst* const choice = builder.CreateSwitch(load_at(builder, builder.getInt64Ty(), table, offset), none,
                                                          static_cast<unsigned>(candidates.size()));
    builder.SetInsertPoint(none);
    builder.CreateCall(module_.getOrInsertFunction(kTableNone, builder.getVoidTy(), builder.getInt32Ty()), {index});
    builder.CreateBr(after);
    llvm::PHINode* result = nullptr;
    if (!call.getType()->isVoidTy()) {
      result = llvm::PHINode::Create(call.getType(), static_cast<unsigned>(candidates.size() + 1), "", after->begin());
      result->addIncoming(llvm::Constant::getNullValue(call.getType()), none);
    }
    for (const Candidate& candidate : candidates) {
      llvm::BasicBlock* const block = llvm::BasicBlock::Create(context, "table.call", &function, after);
      choice->addCase(builder.getInt64(candidate.id), block);
      builder.SetInsertPoint(block);
      const llvm::SmallVector<llvm::Value*> operands(call.args());
      llvm::CallInst* const made = builder.CreateCall(candidate.function, operands);
      made->setCallingConv(candidate.function->getCallingConv());
      if (llvm::isa<llvm::FPMathOperator>(made)) made->copyFastMathFlags(&call);
      builder.CreateBr(after);
      if (result != nullptr) result->addIncoming(made, block);
    }
    if (result != nullptr) call.replaceAllUsesWith(result);
    call.eraseFromParent();
    return {};
  }

  llvm::Module& module_;
  const std::span<const AirModuleView> visible_;
  std::map<const llvm::FunctionType*, std::vector<Candidate>> types_;
  std::map<const llvm::FunctionType*, std::string_view> left_out_;  // one of those that read function constants
};

}  // namespace

bool has_function_tables(const llvm::Module& module) {
  return llvm::any_of(std::array{kSize, kIsNull, kFunction}, [&](llvm::StringRef name) {
    const llvm::Function* const operation = module.getFunction(name);
    return operation != nullptr && !operation->use_empty();
  });
}

Result<void> bind_function_tables(llvm::Module& module, std::span<const AirModuleView> visible) {
  return TableBinder(module, visible).bind();
}

}  // namespace smelt::aot::cpu
