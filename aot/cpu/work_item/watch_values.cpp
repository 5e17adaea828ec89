// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's MemorySanitizer in the form made for kernels, which asks a runtime where the shadow of an address lies. What
// it asks becomes calls of the loader (smelt_cpu_watch), where the memory is the threadgroup's or a private array; all
// other memory counts as written, and the optimiser takes its shadow away.
#include "abi/dispatch_block.hpp"
#include "llvm_support/analyses.hpp"
#include "llvm_support/mem_intrinsics.hpp"
#include "lower/collectives.hpp"
#include "work_item/defined.hpp"
#include "work_item/watch.hpp"
#include "work_item/watch_calls.hpp"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Instrumentation/MemorySanitizer.h"

#include <set>

namespace smelt::aot::cpu {
namespace {

constexpr uint64_t kLargestAccess = 1024;  // bytes of one load or store

/// void (noundef T): a value that decides something. MemorySanitizer looks at it; no code is left of it.
constexpr char kDecides[] = "smelt.decides";

class ValueWatcher {
 public:
  ValueWatcher(const WorkItem& item, llvm::TargetMachine& target)
      : item_(item),
        target_(target),
        function_(*item.function),
        module_(*item.function->getParent()),
        i64_(llvm::Type::getInt64Ty(module_.getContext())),
        pointer_(llvm::PointerType::get(module_.getContext(), 0)) {
    for (size_t i = 0; i < item.parameters.size(); ++i) {
      llvm::Argument* argument = function_.getArg(static_cast<unsigned>(i));
      if (item.parameters[i].kind == WorkParameter::Kind::dispatch) dispatch_ = argument;
      if (item.parameters[i].kind == WorkParameter::Kind::threadgroup_memory) threadgroup_memory_ = argument;
    }
  }

  void run() {
    if (has_matrices()) return;
    expand_memory();
    mark_decisions();
    know_zero_products();
    for (llvm::Argument& argument : function_.args()) argument.addAttr(llvm::Attribute::NoUndef);
    sanitise();
    thread_ = thread_index(item_);
    bind_runtime();
  }

 private:
  /// Their values stand for what all lanes hold together, which a thread's shadow cannot follow.
  bool has_matrices() const {
    return llvm::any_of(llvm::instructions(function_), [](const llvm::Instruction& instruction) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call == nullptr || call->getCalledFunction() == nullptr) return false;
      const auto collective = parse_collective(call->getCalledFunction()->getName());
      return collective && is_matrix(collective->kind);
    });
  }

  void expand_memory() {
    const llvm::TargetTransformInfo costs = target_.getTargetTransformInfo(function_);
    // First found, since each splits the block that it stands in.
    std::vector<llvm::MemIntrinsic*> found;
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) found.push_back(memory);
    for (llvm::MemIntrinsic* memory : found) expand_as_loop(*memory, costs);
  }

  void decides(llvm::Instruction& before, llvm::Value* value) {
    if (llvm::isa<llvm::Constant>(value)) return;
    llvm::Type* type = value->getType();
    std::string name;
    llvm::raw_string_ostream(name) << kDecides << '.' << *type;
    llvm::Function* callee = module_.getFunction(name);
    if (callee == nullptr) {
      auto* takes = llvm::FunctionType::get(llvm::Type::getVoidTy(module_.getContext()), {type}, false);
      callee = llvm::Function::Create(takes, llvm::GlobalValue::ExternalLinkage, name, module_);
      callee->addParamAttr(0, llvm::Attribute::NoUndef);
      callee->setDoesNotThrow();
    }
    llvm::CallInst* call = llvm::IRBuilder<>(&before).CreateCall(callee, {value});
    call->addParamAttr(0, llvm::Attribute::NoUndef);
    call->setDebugLoc(before.getDebugLoc());
    decisions_.push_back(call);
  }

  /// Whether zero times it is zero, whatever it is. Floating-point values that nobody has written may be no numbers;
  /// those made of integers are, but of large ones half has none.
  static bool is_finite(const llvm::Value* value) {
    if (value->getType()->isIntOrIntVectorTy()) return true;
    const auto* cast = llvm::dyn_cast<llvm::CastInst>(value);
    if (cast == nullptr || !llvm::isa<llvm::UIToFPInst, llvm::SIToFPInst>(cast)) return false;
    constexpr unsigned kBitsOfHalf = 15;
    return !value->getType()->getScalarType()->isHalfTy() || cast->getSrcTy()->getScalarSizeInBits() <= kBitsOfHalf;
  }

  /// MemorySanitizer knows of constants alone that zero times anything is zero. So a product becomes a choice of
  /// itself, which counts as written where a factor is zero. After mark_decisions, which looks at what is frozen.
  void know_zero_products() {
    std::vector<llvm::BinaryOperator*> products;
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      if (auto* product = llvm::dyn_cast<llvm::BinaryOperator>(&instruction))
        if (product->getOpcode() == llvm::Instruction::Mul || product->getOpcode() == llvm::Instruction::FMul)
          products.push_back(product);
    for (llvm::BinaryOperator* product : products) {
      llvm::Value* const factors[] = {product->getOperand(0), product->getOperand(1)};
      if (llvm::any_of(factors, [](const llvm::Value* one) { return llvm::isa<llvm::Constant>(one); })) continue;
      llvm::IRBuilder<> builder(product->getNextNode());
      builder.SetCurrentDebugLocation(product->getDebugLoc());
      std::set<const llvm::User*> ours;
      llvm::Value* choice = product;
      for (unsigned i = 0; i < 2; ++i) {
        if (!is_finite(factors[1 - i])) continue;
        llvm::Value* const zero = llvm::Constant::getNullValue(product->getType());
        const bool is_float = product->getType()->isFPOrFPVectorTy();
        llvm::Value* const is_zero =
            is_float ? builder.CreateFCmpOEQ(factors[i], zero) : builder.CreateICmpEQ(factors[i], zero);
        auto* const known = llvm::cast<llvm::Instruction>(builder.CreateFreeze(product));
        choice = builder.CreateSelect(is_zero, known, choice);
        ours.insert(known);
        ours.insert(llvm::cast<llvm::User>(choice));
      }
      product->replaceUsesWithIf(choice, [&](const llvm::Use& use) { return !ours.contains(use.getUser()); });
    }
  }

  /// Whether all that becomes of a value is that other lanes may get it: it decides nothing before one of them uses it,
  /// and what SIMD-group operations give counts as written.
  static bool goes_to_other_lanes(const llvm::FreezeInst& freeze) {
    return llvm::all_of(freeze.uses(), [](const llvm::Use& use) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(use.getUser());
      if (call == nullptr || call->getCalledFunction() == nullptr) return false;
      const auto collective = parse_collective(call->getCalledFunction()->getName());
      if (!collective) return false;
      const CollectiveKind kind = collective->kind;
      const bool is_fill = kind == CollectiveKind::fill_up || kind == CollectiveKind::fill_down;
      return (is_prefix(kind) || is_lane_move(kind)) && use.getOperandNo() < (is_fill ? 2 : 1);
    });
  }

  /// What is stored into buffers, and what was frozen because a way or an address hangs on it.
  void mark_decisions() {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function_))) {
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
        if (is_buffer(store->getPointerOperand())) decides(*store, store->getValueOperand());
      } else if (auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
        decides(*atomic, atomic->getValOperand());
        // What it adds to: MemorySanitizer takes memory of atomics for written.
        if (!is_buffer(atomic->getPointerOperand())) {
          llvm::LoadInst* held = llvm::IRBuilder<>(atomic).CreateLoad(atomic->getType(), atomic->getPointerOperand());
          held->setDebugLoc(atomic->getDebugLoc());
          decides(*atomic, held);
        }
      } else if (auto* freeze = llvm::dyn_cast<llvm::FreezeInst>(&instruction)) {
        // What is loaded of private arrays is frozen as it is; their addresses are known to the loader now, so that
        // nobody can take their bytes for anything he likes.
        if (freeze->hasMetadata(kPrivateLoadMetadata)) {
          freeze->replaceAllUsesWith(freeze->getOperand(0));
          freeze->eraseFromParent();
        } else if (!goes_to_other_lanes(*freeze)) {
          decides(*freeze, freeze->getOperand(0));
        }
      }
    }
  }

  static bool is_buffer(const llvm::Value* pointer) {
    const unsigned space = llvm::cast<llvm::PointerType>(pointer->stripPointerCasts()->getType())->getAddressSpace();
    return space == 1 || space == 2;
  }

  void sanitise() {
    for (llvm::Function& function : module_)
      if (!function.isDeclaration() && &function != &function_)
        function.addFnAttr(llvm::Attribute::DisableSanitizerInstrumentation);
    function_.addFnAttr(llvm::Attribute::SanitizeMemory);
    llvm::MemorySanitizerOptions options(0, true, true, true);
    options.TrackOrigins = 0;
    llvm::PassBuilder builder(&target_);
    Analyses analyses(builder);
    llvm::ModulePassManager passes;
    passes.addPass(llvm::MemorySanitizerPass(options));
    passes.run(module_, analyses.module);
    function_.removeFnAttr(llvm::Attribute::SanitizeMemory);
    for (llvm::Function& function : module_) function.removeFnAttr(llvm::Attribute::DisableSanitizerInstrumentation);
    for (llvm::CallInst* call : decisions_) call->eraseFromParent();
  }

  /// Zeros that are read for all memory that counts as written, and a place for shadow that nobody reads.
  llvm::Value* zeros() {
    if (zeros_ == nullptr) {
      auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module_.getContext()), kLargestAccess);
      auto* global = new llvm::GlobalVariable(module_, type, true, llvm::GlobalValue::InternalLinkage,
                                              llvm::ConstantAggregateZero::get(type), "smelt.written");
      global->setAlignment(llvm::Align(64));
      zeros_ = global;
    }
    return zeros_;
  }
  llvm::Value* nowhere() {
    if (nowhere_ == nullptr) {
      llvm::IRBuilder<> builder(&*function_.getEntryBlock().getFirstInsertionPt());
      auto* type = llvm::ArrayType::get(builder.getInt8Ty(), kLargestAccess);
      auto* slot = builder.CreateAlloca(type, nullptr, "smelt.nowhere");
      slot->setAlignment(llvm::Align(64));
      nowhere_ = slot;
    }
    return nowhere_;
  }

  bool has_shadow(const llvm::Value* pointer) const {
    if (is_buffer(pointer)) return false;
    llvm::SmallVector<const llvm::Value*> origins;
    llvm::getUnderlyingObjects(pointer, origins, nullptr, 0);
    return !llvm::all_of(origins, [&](const llvm::Value* origin) {
      return llvm::isa<llvm::GlobalVariable, llvm::ConstantPointerNull>(origin) || origin == dispatch_ ||
             reads_dispatch(origin, dispatch_) ||
             (origin->getType()->isPointerTy() && origin->getType()->getPointerAddressSpace() != 0 &&
              origin->getType()->getPointerAddressSpace() != 3);
    });
  }

  static bool is_threadgroup(const llvm::Value* pointer) {
    return llvm::cast<llvm::PointerType>(pointer->stripPointerCasts()->getType())->getAddressSpace() == 3;
  }

  /// Without a call: all of it lies in one piece, and so does its shadow.
  llvm::Value* threadgroup_shadow(llvm::IRBuilder<>& builder, llvm::Value* pointer) {
    llvm::Value* start = builder.CreatePtrToInt(threadgroup_memory_, i64_);
    llvm::Value* offset = builder.CreateSub(builder.CreatePtrToInt(pointer->stripPointerCasts(), i64_), start);
    llvm::Value* shadow = load_watch_field(builder, dispatch_, offsetof(smelt_cpu_watch, threadgroup_shadow));
    return builder.CreateGEP(builder.getInt8Ty(), shadow, offset);
  }

  llvm::CallInst* call_field(llvm::IRBuilder<>& builder, uint64_t field, llvm::Type* result,
                             llvm::ArrayRef<llvm::Value*> operands, llvm::StringRef name) {
    llvm::SmallVector<llvm::Type*> types;
    for (llvm::Value* operand : operands) types.push_back(operand->getType());
    llvm::Function* helper = watch_function(module_, name, field, result, types);
    llvm::SmallVector<llvm::Value*> all{dispatch_};
    all.append(operands.begin(), operands.end());
    return builder.CreateCall(helper, all);
  }

  /// {shadow, origin} of an address.
  void bind_shadow(llvm::CallInst& call, bool is_write) {
    llvm::Value* pointer = call.getArgOperand(0);
    llvm::IRBuilder<> builder(&call);
    llvm::Value* bytes = nullptr;
    if (call.arg_size() > 1) {
      bytes = builder.CreateZExtOrTrunc(call.getArgOperand(1), i64_);
    } else {
      uint64_t size = 0;
      call.getCalledFunction()->getName().rsplit('_').second.getAsInteger(10, size);
      bytes = builder.getInt64(size);
    }
    llvm::Value* shadow = nullptr;
    if (!has_shadow(pointer))
      shadow = is_write ? nowhere() : zeros();
    else if (is_threadgroup(pointer))
      shadow = threadgroup_shadow(builder, pointer);
    else
      shadow = call_field(builder, offsetof(smelt_cpu_watch, shadow), pointer_,
                          {pointer, bytes, builder.getInt32(is_write ? 1 : 0)}, "smelt.watch.shadow");
    llvm::Value* both = llvm::PoisonValue::get(call.getType());
    both = builder.CreateInsertValue(both, shadow, 0);
    both = builder.CreateInsertValue(both, llvm::ConstantPointerNull::get(pointer_), 1);
    call.replaceAllUsesWith(both);
  }

  void bind(llvm::CallInst& call, llvm::StringRef name) {
    llvm::IRBuilder<> builder(&call);
    if (name.starts_with("__msan_metadata_ptr_for_load")) {
      bind_shadow(call, false);
    } else if (name.starts_with("__msan_metadata_ptr_for_store")) {
      bind_shadow(call, true);
    } else if (name == "__msan_get_context_state") {
      call.replaceAllUsesWith(load_watch_field(builder, dispatch_, offsetof(smelt_cpu_watch, calls)));
    } else if (name == "__msan_poison_alloca") {
      call_field(builder, offsetof(smelt_cpu_watch, forget), builder.getVoidTy(),
                 {call.getArgOperand(0), builder.CreateZExtOrTrunc(call.getArgOperand(1), i64_)}, "smelt.watch.forget");
    } else if (name == "__msan_warning") {
      call_field(builder, offsetof(smelt_cpu_watch, unwritten), builder.getVoidTy(),
                 {thread_, place_text(module_, place_of(call))}, "smelt.watch.unwritten");
    } else if (name == "__msan_memmove" || name == "__msan_memcpy") {
      call.replaceAllUsesWith(call.getArgOperand(0));
      builder.CreateMemMove(call.getArgOperand(0), llvm::Align(1), call.getArgOperand(1), llvm::Align(1),
                            call.getArgOperand(2));
    } else if (name == "__msan_memset") {
      call.replaceAllUsesWith(call.getArgOperand(0));
      builder.CreateMemSet(call.getArgOperand(0), builder.CreateTrunc(call.getArgOperand(1), builder.getInt8Ty()),
                           call.getArgOperand(2), llvm::Align(1));
    } else if (!call.use_empty()) {
      call.replaceAllUsesWith(llvm::Constant::getNullValue(call.getType()));
    }
    call.eraseFromParent();
  }

  void bind_runtime() {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function_)))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        if (const llvm::Function* callee = call->getCalledFunction();
            callee != nullptr && callee->getName().starts_with("__msan_"))
          bind(*call, callee->getName());
    for (llvm::Function& function : llvm::make_early_inc_range(module_))
      if (function.isDeclaration() && function.use_empty() &&
          (function.getName().starts_with("__msan_") || function.getName().starts_with(kDecides)))
        function.eraseFromParent();
    for (llvm::GlobalVariable& global : llvm::make_early_inc_range(module_.globals()))
      if (global.use_empty() && global.getName().starts_with("__msan_")) global.eraseFromParent();
  }

  const WorkItem& item_;
  llvm::TargetMachine& target_;
  llvm::Function& function_;
  llvm::Module& module_;
  llvm::Type* i64_;
  llvm::PointerType* pointer_;
  llvm::Value* dispatch_ = nullptr;
  llvm::Value* threadgroup_memory_ = nullptr;
  llvm::Value* thread_ = nullptr;
  llvm::Value* zeros_ = nullptr;
  llvm::Value* nowhere_ = nullptr;
  std::vector<llvm::CallInst*> decisions_;
};

}  // namespace

void watch_values(const WorkItem& item, llvm::TargetMachine& target) {
  ValueWatcher(item, target).run();
}

}  // namespace smelt::aot::cpu
