// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's MemorySanitizer in the form made for kernels, which asks a runtime where the shadow of an address lies. What
// it asks becomes calls of the loader (smelt_cpu_watch), where the memory is the threadgroup's or a private array; all
// other memory counts as written, and the optimiser takes its shadow away.
#include "abi/dispatch_block.hpp"
#include "llvm_support/analyses.hpp"
#include "llvm_support/mem_intrinsics.hpp"
#include "lower/collectives.hpp"
#include "work_item/defined.hpp"
#include "work_item/texel_access.hpp"
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
    fill_fourth_places();
    mark_decisions();
    know_zero_products();
    pass_shadows_on();
    for (llvm::Argument& argument : function_.args()) argument.addAttr(llvm::Attribute::NoUndef);
    sanitise();
    thread_ = thread_index(item_);
    for (llvm::CallInst* call : exchanges_) exchange_shadow(*call);
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

  /// True if nothing sets this element of a vector.
  static bool is_unset(const llvm::Value* vector, uint64_t element) {
    if (llvm::isa<llvm::UndefValue>(vector)) return true;
    if (const auto* constant = llvm::dyn_cast<llvm::Constant>(vector)) {
      const llvm::Constant* const one = constant->getAggregateElement(static_cast<unsigned>(element));
      return one != nullptr && llvm::isa<llvm::UndefValue>(one);
    }
    if (const auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(vector)) {
      const auto* const place = llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
      return place != nullptr && place->getZExtValue() != element && is_unset(insert->getOperand(0), element);
    }
    const auto* const shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(vector);
    if (shuffle == nullptr) return false;
    const int from = shuffle->getMaskValue(static_cast<unsigned>(element));
    if (from < 0) return true;
    const auto* const source = llvm::cast<llvm::FixedVectorType>(shuffle->getOperand(0)->getType());
    const unsigned count = source->getNumElements(), place = static_cast<unsigned>(from);
    return is_unset(shuffle->getOperand(place < count ? 0 : 1), place < count ? place : place - count);
  }

  /// A vector of three lies in memory as one of four, whose last place holds nothing. Zero, it counts as written.
  void fill_fourth_places() {
    for (llvm::Instruction& instruction : llvm::instructions(function_)) {
      auto* const store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      llvm::Value* const value = store != nullptr ? store->getValueOperand() : nullptr;
      const auto* const vector = value != nullptr ? llvm::dyn_cast<llvm::FixedVectorType>(value->getType()) : nullptr;
      if (vector == nullptr || vector->getNumElements() != 4 || !is_unset(value, 3)) continue;
      llvm::IRBuilder<> builder(store);
      store->setOperand(
          0, builder.CreateInsertElement(value, llvm::Constant::getNullValue(vector->getElementType()), uint64_t{3}));
    }
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

  /// MemorySanitizer reports an unwritten divisor, and an unwritten operand of an operation that it does not know. Both
  /// only compute, perhaps for threads that never use the result. So they get a frozen operand, and the operand's
  /// shadow reaches their result through a number that is zero, which MemorySanitizer does not see.
  void pass_shadows_on() {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function_))) {
      const auto* const intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      const bool converts =
          intrinsic != nullptr && llvm::is_contained({llvm::Intrinsic::fptoui_sat, llvm::Intrinsic::fptosi_sat,
                                                      llvm::Intrinsic::ldexp, llvm::Intrinsic::is_fpclass},
                                                     intrinsic->getIntrinsicID());
      if (converts) pass_shadow_on(instruction, 0);
      if (instruction.isIntDivRem() || (converts && intrinsic->getIntrinsicID() == llvm::Intrinsic::ldexp))
        pass_shadow_on(instruction, 1);
    }
  }

  void pass_shadow_on(llvm::Instruction& instruction, unsigned operand) {
    llvm::Value* const value = instruction.getOperand(operand);
    if (llvm::isa<llvm::Constant>(value)) return;
    const auto in_bits = [](llvm::Type* type) {
      return type->getWithNewType(llvm::IntegerType::get(type->getContext(), type->getScalarSizeInBits()));
    };
    llvm::IRBuilder<> before(&instruction);
    instruction.setOperand(operand, before.CreateFreeze(value));
    llvm::IRBuilder<> builder(instruction.getNextNode());
    llvm::Value* const bits = builder.CreateBitCast(value, in_bits(value->getType()));
    llvm::Instruction* const zero = builder.Insert(llvm::BinaryOperator::CreateXor(bits, bits));
    llvm::Value* const is_unwritten = builder.CreateIsNotNull(zero);
    llvm::Type* const type = instruction.getType();
    auto* const own = builder.Insert(llvm::CastInst::CreateBitOrPointerCast(&instruction, in_bits(type)));
    llvm::Value* const both = builder.CreateBitCast(
        builder.Insert(llvm::BinaryOperator::CreateXor(own, builder.CreateSExt(is_unwritten, in_bits(type)))), type);
    instruction.replaceUsesWithIf(both, [&](const llvm::Use& use) { return use.getUser() != own; });
  }

  static std::optional<Collective> collective_of(const llvm::CallInst& call) {
    const llvm::Function* callee = call.getCalledFunction();
    return callee != nullptr ? parse_collective(callee->getName()) : std::nullopt;
  }

  /// The first operands of a call that are values of a lane which others may get, or parts of what others get.
  static unsigned exchanged(const llvm::CallInst& call) {
    const auto collective = collective_of(call);
    if (!collective) return 0;
    const CollectiveKind kind = collective->kind;
    if (kind == CollectiveKind::fill_up || kind == CollectiveKind::fill_down) return 2;
    return is_prefix(kind) || is_lane_move(kind) ? 1 : 0;
  }

  /// Such a value decides nothing before a lane uses it.
  static bool is_exchanged(const llvm::Use& use) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(use.getUser());
    return call != nullptr && use.getOperandNo() < exchanged(*call);
  }

  /// MemorySanitizer has put the shadows of a call's operands before it, and looks for that of its result behind it.
  /// Lanes exchange shadows as they do values; a prefix is unwritten from the first lane on whose value is.
  void exchange_shadow(llvm::CallInst& call) {
    constexpr uint64_t kResult = 800;  // from the begin of the operands' shadows
    const Collective collective = *collective_of(call);
    const llvm::DataLayout& layout = module_.getDataLayout();
    llvm::IRBuilder<> builder(&call);
    const auto place = [&](uint64_t at) {
      llvm::Value* calls = load_watch_field(builder, dispatch_, offsetof(smelt_cpu_watch, calls));
      return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), calls, at);
    };
    llvm::Type* const type = call.getType();
    const uint64_t width = layout.getTypeSizeInBits(type->getScalarType());
    llvm::Type* const bits = type->getWithNewType(builder.getIntNTy(static_cast<unsigned>(width)));
    llvm::SmallVector<llvm::Value*, 2> shadows;
    uint64_t at = 0;
    for (unsigned i = 0; i < exchanged(call); ++i) {
      shadows.push_back(builder.CreateAlignedLoad(bits, place(at), llvm::Align(8)));
      at += llvm::alignTo(layout.getTypeAllocSize(type), 8);
      call.setArgOperand(i, builder.CreateFreeze(call.getArgOperand(i)));
    }
    builder.SetInsertPoint(call.getNextNode());
    llvm::Value* result = nullptr;
    if (is_prefix(collective.kind)) {
      llvm::Type* const count = type->getWithNewType(builder.getInt32Ty());
      const bool is_inclusive = collective.kind == CollectiveKind::prefix_inclusive_sum ||
                                collective.kind == CollectiveKind::prefix_inclusive_product;
      std::string name = collective.group_width == kQuadWidth ? "air.quad_prefix_" : "air.simd_prefix_";
      name += is_inclusive ? "inclusive_sum.u." : "exclusive_sum.u.";
      if (collective.components > 1) name += "v" + std::to_string(collective.components);
      llvm::FunctionCallee sum = module_.getOrInsertFunction(name + "i32", count, count);
      llvm::Value* const unwritten = builder.CreateZExt(builder.CreateIsNotNull(shadows.front()), count);
      llvm::cast<llvm::Function>(sum.getCallee())->setAttributes(call.getCalledFunction()->getAttributes());
      llvm::Value* const before = builder.CreateCall(sum, {unwritten});
      result = builder.CreateSExt(builder.CreateIsNotNull(before), bits);
    } else {
      auto* const moved = llvm::cast<llvm::CallInst>(call.clone());
      for (unsigned i = 0; i < shadows.size(); ++i) moved->setArgOperand(i, builder.CreateBitCast(shadows[i], type));
      moved->setMetadata(kPlaceMetadata, nullptr);  // what it reads is told of once
      builder.Insert(moved);
      result = builder.CreateBitCast(moved, bits);
    }
    builder.CreateAlignedStore(result, place(kResult), llvm::Align(8));
  }

  /// The value that an atomic operation finds decides. MemorySanitizer counts the memory of atomics as written, so it
  /// is loaded once more, plainly.
  void decide_held(llvm::Instruction& atomic, llvm::Value* pointer, llvm::Type* type) {
    if (is_buffer(pointer)) return;
    llvm::LoadInst* held = llvm::IRBuilder<>(&atomic).CreateLoad(type, pointer);
    held->setDebugLoc(atomic.getDebugLoc());
    decides(atomic, held);
  }

  /// What is stored into buffers, and what was frozen because a way or an address hangs on it.
  void mark_decisions() {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function_))) {
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
        if (is_buffer(store->getPointerOperand())) decides(*store, store->getValueOperand());
      } else if (auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
        decides(*atomic, atomic->getValOperand());
        decide_held(*atomic, atomic->getPointerOperand(), atomic->getType());
      } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
        decides(*exchange, exchange->getNewValOperand());
        decide_held(*exchange, exchange->getPointerOperand(), exchange->getNewValOperand()->getType());
      } else if (auto* freeze = llvm::dyn_cast<llvm::FreezeInst>(&instruction)) {
        // What is loaded of private arrays is frozen as it is; their addresses are known to the loader now, so that
        // nobody can take their bytes for anything he likes.
        if (freeze->hasMetadata(kPrivateLoadMetadata)) {
          freeze->replaceAllUsesWith(freeze->getOperand(0));
          freeze->eraseFromParent();
        } else if (llvm::all_of(freeze->uses(), is_exchanged)) {
          freeze->replaceAllUsesWith(freeze->getOperand(0));
          freeze->eraseFromParent();
        } else {
          decides(*freeze, freeze->getOperand(0));
        }
      } else if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
        mark_call(*call);
      }
    }
  }

  /// Whole numbers that decide are frozen in calls of collectives already.
  void mark_call(llvm::CallInst& call) {
    const auto collective = collective_of(call);
    if (exchanged(call) != 0) {
      exchanges_.push_back(&call);
    } else if (collective && !call.getType()->isVoidTy()) {
      // Its shadow would lie where those of other threads do, which run meanwhile.
      call.addRetAttr(llvm::Attribute::NoUndef);
      known_results_.push_back(&call);
    }
    const bool combines = collective && is_reduction(collective->kind) && collective->element.is_float();
    if (combines) decides(call, call.getArgOperand(0));
    // Coordinates are addresses, and a texture is memory as a buffer is.
    if (texel_access(call) || stays_in_textures(call))
      for (llvm::Value* operand : call.args())
        if (!operand->getType()->isPointerTy()) decides(call, operand);
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
    for (llvm::CallInst* call : known_results_) call->removeRetAttr(llvm::Attribute::NoUndef);
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
  std::vector<llvm::CallInst*> known_results_;
  std::vector<llvm::CallInst*> exchanges_;  ///< in which lanes give each other values
};

}  // namespace

void watch_values(const WorkItem& item, llvm::TargetMachine& target) {
  ValueWatcher(item, target).run();
}

}  // namespace smelt::aot::cpu
