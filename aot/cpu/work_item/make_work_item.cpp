// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order matters: lower air.* operations first (module-wide, runtime functions come in), then inline everything into
// one function, then bind what that function sees of the world (hardware values, threadgroup memory, constants, log),
// then simplify.
#include "work_item/make_work_item.hpp"

#include "abi/dispatch_block.hpp"
#include "abi/function_tables.hpp"
#include "llvm_support/analyses.hpp"
#include "lower/collectives.hpp"
#include "lower/lower.hpp"
#include "lower/tensors.hpp"
#include "work_item/bfloat_calls.hpp"
#include "work_item/builtin_arguments.hpp"
#include "work_item/checked.hpp"
#include "work_item/fault.hpp"
#include "work_item/function_constants.hpp"
#include "work_item/lane_functions.hpp"
#include "work_item/long_functions.hpp"
#include "work_item/matrix_views.hpp"
#include "work_item/prepare_module.hpp"
#include "work_item/recursion.hpp"
#include "work_item/scalar_conditions.hpp"
#include "work_item/unroll.hpp"
#include "work_item/watch.hpp"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <map>
#include <optional>

namespace smelt::aot::cpu {
namespace {

constexpr uint64_t kScratchLine = 64;  // the alignment of a launch's scratch memory
// Enough to see through private pointer variables, without mixing addresses of different objects.
constexpr const char* kBeforeChecks = "sroa,early-cse,simplifycfg,adce";

class Maker {
 public:
  Maker(llvm::Module& module, const KernelEntry& info, const PrepareOptions& options)
      : module_(module), context_(module.getContext()), info_(info), options_(options) {}

  Result<PreparedKernel> make(llvm::TargetMachine& target) {
    const ConstantsLayout constants = lay_out_constants(info_, module_.getDataLayout());
    SMELT_TRY_VOID(plan_parameters());
    create_function();
    SMELT_TRY_VOID(clone_kernel());
    SMELT_TRY_VOID(inline_calls(*function_));
    bind_tensor_places();
    SMELT_TRY_VOID(bind_function_constants(*function_, dispatch_, info_, constants));
    SMELT_TRY_VOID(bind_threadgroup_memory());
    bind_log();
    bind_table_ends();
    result_.item.function = function_;
    remove_all_but(module_, *function_);
    const std::vector<RecursiveFunction> recursive = bound_recursion(*function_, *dispatch_);
    set_function_attributes(*function_, target, options_.level);
    if (options_.checked) {
      if (!threadgroup_objects_.empty()) tell_variables(module_, describe(threadgroup_objects_));
      report_outside_arrays(*function_, *dispatch_, &result_.item);
      run_passes(*function_, kBeforeChecks, &target);
      SMELT_TRY_VOID(check_accesses(result_.item, threadgroup_objects_));
      for (const RecursiveFunction& one : recursive) {
        report_outside_arrays(*one.function, *one.dispatch, nullptr);
        run_passes(*one.function, kBeforeChecks, &target);
      }
      SMELT_TRY_VOID(check_recursion(recursive));
    }
    if (options_.checked.watches()) {
      watch_threads(result_.item, options_.checked, threadgroup_objects_);
      if (options_.checked.has(Check::init)) watch_values(result_.item, target);
    }
    if (options_.checked && !options_.keep_lines) llvm::StripDebugInfo(module_);
    compare_components(*function_);
    simplify_and_unroll(*function_, target);
    undo_matrix_views(*function_);
    result_.constants_bytes = constants.bytes;
    result_.constants = constants.constants;
    describe_sites(result_.item);
    return std::move(result_);
  }

 private:
  /// Which parameters the work item has: first pointers in the kernel's order, then scalars in Builtin's order.
  Result<void> plan_parameters() {
    std::map<std::pair<Builtin, uint8_t>, bool> wanted;
    llvm::IRBuilder<> scratch(context_);
    for (size_t i = 0; i < info_.interface.parameters.size(); ++i) {
      const llvm::Argument* parameter = info_.function->getArg(static_cast<unsigned>(i));
      if (const auto* input = std::get_if<Input>(&info_.interface.parameters[i])) {
        if (parameter->use_empty()) continue;
        // Constants keep the builder from needing a place to insert; only the questions matter here.
        const auto ask = [&](Builtin builtin, uint8_t component) -> llvm::Value* {
          wanted[{builtin, component}] = true;
          return scratch.getInt32(1);
        };
        SMELT_TRY_VOID(emit_builtin_argument(scratch, input->name, parameter->getType(), ask));
        continue;
      }
      const auto& binding = std::get<Binding>(info_.interface.parameters[i]);
      WorkParameter bound{.kind = WorkParameter::Kind::bound, .binding = binding.kind, .index = binding.slot};
      if (is_handle_array(binding, *parameter)) bound.count = binding.count;
      bound.no_alias =
          info_.function->getAttributes().getParamAttrs(static_cast<unsigned>(i)).hasAttribute("air-buffer-no-alias");
      add_parameter(bound, parameter->getType());
    }
    add_parameter({.kind = WorkParameter::Kind::threadgroup_memory, .no_alias = true},
                  llvm::PointerType::get(context_, 3));
    add_parameter({.kind = WorkParameter::Kind::dispatch, .no_alias = true}, llvm::PointerType::get(context_, 0));
    if (module_.getFunction(kTensorThread) != nullptr) wanted[{Builtin::thread_index_in_threadgroup, 0}] = true;
    if (options_.checked)  // faults say where they happened
      for (uint8_t i = 0; i < 3; ++i) wanted[{Builtin::thread_position_in_grid, i}] = true;
    for (const auto& [key, unused] : wanted)
      add_parameter({.kind = WorkParameter::Kind::builtin, .builtin = key.first, .component = key.second},
                    llvm::Type::getInt32Ty(context_));
    return {};
  }

  static bool is_handle_array(const Binding& binding, const llvm::Argument& parameter) {
    return (binding.kind == BindingClass::texture || binding.kind == BindingClass::sampler) &&
           parameter.getType()->getPointerAddressSpace() == 0;
  }

  void add_parameter(const WorkParameter& parameter, llvm::Type* type) {
    result_.item.parameters.push_back(parameter);
    types_.push_back(type);
  }

  void create_function() {
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context_), types_, false);
    function_ = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "smelt.work_item", module_);
    for (size_t i = 0; i < types_.size(); ++i) {
      const WorkParameter& parameter = result_.item.parameters[i];
      llvm::Argument* argument = function_->getArg(static_cast<unsigned>(i));
      if (parameter.kind == WorkParameter::Kind::dispatch) dispatch_ = argument;
      if (parameter.kind == WorkParameter::Kind::threadgroup_memory) threadgroup_memory_ = argument;
    }
  }

  llvm::Argument* scalar(Builtin builtin, uint8_t component) {
    for (size_t i = 0; i < result_.item.parameters.size(); ++i) {
      const WorkParameter& parameter = result_.item.parameters[i];
      if (parameter.kind == WorkParameter::Kind::builtin && parameter.builtin == builtin &&
          parameter.component == component)
        return function_->getArg(static_cast<unsigned>(i));
    }
    return nullptr;
  }

  Result<void> clone_kernel() {
    auto* entry = llvm::BasicBlock::Create(context_, "entry", function_);
    llvm::IRBuilder<> builder(entry);
    llvm::ValueToValueMapTy map;
    unsigned bound = 0;
    for (size_t i = 0; i < info_.interface.parameters.size(); ++i) {
      llvm::Argument* parameter = info_.function->getArg(static_cast<unsigned>(i));
      const auto* input = std::get_if<Input>(&info_.interface.parameters[i]);
      if (input == nullptr) {
        map[parameter] = function_->getArg(bound++);
      } else if (parameter->use_empty()) {
        map[parameter] = llvm::PoisonValue::get(parameter->getType());
      } else {
        const auto source = [&](Builtin builtin, uint8_t component) { return scalar(builtin, component); };
        SMELT_TRY(llvm::Value * value, emit_builtin_argument(builder, input->name, parameter->getType(), source));
        map[parameter] = value;
      }
    }
    for (llvm::Function* initialiser : info_.initialisers) builder.CreateCall(initialiser);
    llvm::SmallVector<llvm::ReturnInst*> returns;
    llvm::CloneFunctionInto(function_, info_.function, map, llvm::CloneFunctionChangeType::LocalChangesOnly, returns);
    function_->setLinkage(llvm::GlobalValue::InternalLinkage);
    function_->setSection("");
    builder.CreateBr(llvm::cast<llvm::BasicBlock>(map[&info_.function->getEntryBlock()]));
    move_allocas_to_entry();
    // Promises about callers and effects hold for the kernel as written, not for what becomes of it.
    function_->setAttributes({});
    return {};
  }

  /// The kernel's own entry block is no longer the first: its allocas must move to stay static.
  void move_allocas_to_entry() {
    llvm::BasicBlock& entry = function_->getEntryBlock();
    llvm::SmallVector<llvm::AllocaInst*> allocas;
    for (llvm::Instruction& instruction : llvm::instructions(*function_))
      if (auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
        if (alloca->getParent() != &entry && llvm::isa<llvm::ConstantInt>(alloca->getArraySize()))
          allocas.push_back(alloca);
    for (llvm::AllocaInst* alloca : allocas) alloca->moveBefore(&*entry.getFirstInsertionPt());
  }

  /// As the program has it: Clang calls a variable of a function "FUNCTION.NAME", others carry a mangled name, and LLVM
  /// counts what it has cut off a variable or found a second time.
  static std::string name_of(const llvm::GlobalVariable& global) {
    llvm::StringRef whole = global.getName();
    for (size_t dot = whole.rfind('.'); dot != whole.npos && dot > 0; dot = whole.rfind('.')) {
      const llvm::StringRef number = whole.substr(dot + 1);
      if (number.empty() || number.find_first_not_of("0123456789") != number.npos) break;
      whole = whole.take_front(dot);
    }
    const std::string name = llvm::demangle(whole.str());
    const size_t dot = name.find_last_of(".:");
    return dot == std::string::npos || dot + 1 == name.size() ? name : name.substr(dot + 1);
  }

  Result<void> bind_threadgroup_memory() {
    llvm::SmallVector<llvm::GlobalVariable*> globals;
    for (llvm::GlobalVariable& global : module_.globals())
      if (global.getAddressSpace() == 3) globals.push_back(&global);
    if (globals.empty()) return {};
    const llvm::SmallVector<llvm::Constant*> constants(globals.begin(), globals.end());
    llvm::convertUsersOfConstantsToInstructions(constants, function_);
    llvm::IRBuilder<> builder(&*function_->getEntryBlock().getFirstInsertionPt());
    const uint64_t room = options_.checked ? 0 : kRoundThreadgroupMemory;  // checked accesses know their own bounds
    // PointerShadows::of_gep tells variables apart by the address that a pointer is based on. No variable lies at the
    // start of the memory, whose address is that of all of them.
    uint64_t at = options_.checked ? kScratchLine : room;
    for (llvm::GlobalVariable* global : globals) {
      llvm::SmallVector<llvm::Use*> uses;
      for (llvm::Use& use : global->uses())
        if (const auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser()))
          if (user->getFunction() == function_) uses.push_back(&use);
      if (uses.empty()) continue;
      if (global->hasInitializer() && !llvm::isa<llvm::UndefValue>(global->getInitializer()))
        return fail(Errc::unsupported, "threadgroup variable {} has an initial value", global->getName().str());
      const uint64_t bytes = module_.getDataLayout().getTypeAllocSize(global->getValueType());
      at = llvm::alignTo(at, kScratchLine);
      auto* address = llvm::cast<llvm::Instruction>(builder.CreateGEP(builder.getInt8Ty(), threadgroup_memory_,
                                                                      builder.getInt64(at), global->getName(),
                                                                      llvm::GEPNoWrapFlags::inBounds()));
      for (llvm::Use* use : uses) use->set(address);
      threadgroup_objects_.push_back({at, bytes, name_of(*global)});
      at += bytes;
    }
    if (threadgroup_objects_.empty()) return {};
    if (at - room > (1u << 30))
      return fail(Errc::threadgroup_memory_too_large, "{} bytes of threadgroup memory", at - room);
    result_.threadgroup_bytes = static_cast<uint32_t>(at - room);
    result_.threadgroup_extent = static_cast<uint32_t>(at + room);
    return {};
  }

  /// What code of tensors asks for where it runs.
  void bind_tensor_places() {
    llvm::IRBuilder<> builder(&*function_->getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    const auto bind = [&](const char* name, auto value) {
      llvm::Function* asked = module_.getFunction(name);
      if (asked == nullptr) return;
      llvm::Value* known = value();
      for (llvm::User* user : llvm::make_early_inc_range(asked->users()))
        if (auto* call = llvm::dyn_cast<llvm::CallInst>(user); call != nullptr && call->getFunction() == function_) {
          call->replaceAllUsesWith(known);
          call->eraseFromParent();
        }
    };
    bind(kTensorThread, [&] { return scalar(Builtin::thread_index_in_threadgroup, 0); });
    bind(kTensorLayout, [&] { return SMELT_DISPATCH_FIELD(builder, builder.getInt32Ty(), dispatch_, tensor_layout); });
  }

  void bind_table_ends() {
    llvm::Function* const ends = module_.getFunction(kTableNone);
    if (ends == nullptr) return;
    for (llvm::User* user : llvm::make_early_inc_range(ends->users())) {
      auto* const call = llvm::cast<llvm::CallInst>(user);
      if (call->getFunction() != function_) continue;
      llvm::IRBuilder<> builder(call);
      Fault fault{.object = builder.getInt32(SMELT_CPU_FAULT_TABLE),
                  .offset = builder.CreateZExt(call->getArgOperand(0), builder.getInt64Ty())};
      if (options_.checked)
        for (uint8_t i = 0; i < 3; ++i) fault.position[i] = scalar(Builtin::thread_position_in_grid, i);
      report_fault(builder, dispatch_, fault);
      call->eraseFromParent();
    }
  }

  /// air.os_log(subsystem, category, type, format, arguments, size) -> services->log, when there is one.
  void bind_log() {
    llvm::SmallVector<llvm::CallInst*> calls;
    for (llvm::Instruction& instruction : llvm::instructions(*function_))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        if (const llvm::Function* callee = call->getCalledFunction();
            callee != nullptr && callee->getName().starts_with("air.os_log") && call->arg_size() == 6)
          calls.push_back(call);
    if (calls.empty()) return;
    auto* pointer = llvm::PointerType::get(context_, 0);
    auto* helper = log_helper(pointer);
    for (llvm::CallInst* call : calls) {
      llvm::IRBuilder<> builder(call);
      llvm::SmallVector<llvm::Value*> operands{dispatch_};
      for (unsigned i = 0; i < 6; ++i) {
        llvm::Value* operand = call->getArgOperand(i);
        if (i == 2)
          operand = builder.CreateZExtOrTrunc(operand, builder.getInt32Ty());
        else if (i == 5)
          operand = builder.CreateZExtOrTrunc(operand, builder.getInt64Ty());
        else
          operand = builder.CreateAddrSpaceCast(operand, pointer);
        operands.push_back(operand);
      }
      builder.CreateCall(helper, operands);
      if (!call->use_empty()) call->replaceAllUsesWith(llvm::Constant::getNullValue(call->getType()));
      call->eraseFromParent();
    }
  }

  llvm::Function* log_helper(llvm::PointerType* pointer) {
    llvm::Type* i32 = llvm::Type::getInt32Ty(context_);
    llvm::Type* i64 = llvm::Type::getInt64Ty(context_);
    auto* helper = make_cold_helper(module_, kLogHelper, {pointer, pointer, pointer, i32, pointer, pointer, i64});
    auto* entry = llvm::BasicBlock::Create(context_, "entry", helper);
    auto* ask = llvm::BasicBlock::Create(context_, "ask", helper);
    auto* call = llvm::BasicBlock::Create(context_, "call", helper);
    auto* done = llvm::BasicBlock::Create(context_, "done", helper);
    llvm::IRBuilder<> builder(entry);
    llvm::Value* services = SMELT_DISPATCH_FIELD(builder, pointer, helper->getArg(0), services);
    builder.CreateCondBr(builder.CreateIsNull(services), done, ask);
    builder.SetInsertPoint(ask);
    llvm::Value* receiver = load_constant(builder, pointer, services, offsetof(smelt_cpu_services, log));
    llvm::Value* receiver_context = load_constant(builder, pointer, services, offsetof(smelt_cpu_services, context));
    builder.CreateCondBr(builder.CreateIsNull(receiver), done, call);
    builder.SetInsertPoint(call);
    llvm::SmallVector<llvm::Value*> operands{receiver_context};
    for (unsigned i = 1; i < helper->arg_size(); ++i) operands.push_back(helper->getArg(i));
    builder.CreateCall(helper->getFunctionType(), receiver, operands);
    builder.CreateBr(done);
    builder.SetInsertPoint(done);
    builder.CreateRetVoid();
    return helper;
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  const KernelEntry& info_;
  const PrepareOptions& options_;
  PreparedKernel result_;
  llvm::SmallVector<llvm::Type*> types_;
  llvm::Function* function_ = nullptr;
  llvm::Value* dispatch_ = nullptr;
  llvm::Value* threadgroup_memory_ = nullptr;
  std::vector<ThreadgroupObject> threadgroup_objects_;
};

bool uses_threadgroup_memory(const llvm::Function& function, const WorkItem& item) {
  for (size_t i = 0; i < item.parameters.size(); ++i) {
    const WorkParameter& parameter = item.parameters[i];
    if (parameter.kind != WorkParameter::Kind::threadgroup_memory && !parameter.is_bound(BindingClass::threadgroup))
      continue;
    if (!function.getArg(static_cast<unsigned>(i))->use_empty()) return true;
  }
  return false;
}

/// Values that say something about a threadgroup or simdgroup.
bool uses_group_builtins(const llvm::Function& function, const WorkItem& item, bool only_simdgroup) {
  for (size_t i = 0; i < item.parameters.size(); ++i) {
    const WorkParameter& parameter = item.parameters[i];
    if (parameter.kind != WorkParameter::Kind::builtin || function.getArg(static_cast<unsigned>(i))->use_empty())
      continue;
    const Builtin builtin = parameter.builtin;
    if (only_simdgroup) {
      if (builtin == Builtin::thread_index_in_simdgroup || builtin == Builtin::simdgroup_index_in_threadgroup)
        return true;
    } else if (builtin != Builtin::thread_position_in_grid && builtin != Builtin::threads_per_grid &&
               builtin != Builtin::dispatch_threads_per_threadgroup && builtin != Builtin::threadgroups_per_grid &&
               builtin != Builtin::dispatch_simdgroups_per_threadgroup) {
      return true;
    }
  }
  return false;
}

}  // namespace

void describe_sites(WorkItem& item) {
  llvm::Function& function = *item.function;
  llvm::LLVMContext& context = function.getContext();
  unsigned number = 0;
  bool barriers = false;
  bool collectives = false;
  llvm::ReversePostOrderTraversal<llvm::Function*> order(&function);
  for (llvm::BasicBlock* block : order)
    for (llvm::Instruction& instruction : *block) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call == nullptr || call->getCalledFunction() == nullptr) continue;
      collectives |= is_lane_function(*call->getCalledFunction());
      const auto collective = parse_collective(call->getCalledFunction()->getName());
      if (!collective) continue;
      if (collective->kind == CollectiveKind::threadgroup_barrier) {
        barriers = true;
        llvm::Constant* value = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), ++number);
        call->setMetadata(kSiteMetadata, llvm::MDNode::get(context, {llvm::ConstantAsMetadata::get(value)}));
      } else {
        collectives = true;
      }
    }
  item.has_barriers = barriers;
  item.has_collectives = collectives || uses_group_builtins(function, item, true);
  item.grid_only = !barriers && !collectives && !uses_group_builtins(function, item, false) &&
                   !uses_threadgroup_memory(function, item);
}

Result<PreparedKernel> make_work_item(llvm::Module& module, const KernelEntry& info, llvm::TargetMachine& target,
                                      const PrepareOptions& options) {
  SMELT_TRY_VOID(adopt_target(module, target, options.keep_lines || bool(options.checked)));
  SMELT_TRY_VOID(keep_recursion(module));
  if (!options.checked) keep_long_functions(module);  // checked code knows the bounds of what the kernel itself has
  if (options.checked.has(Check::init) && has_tensors(module))
    return fail(Errc::unsupported,
                "kernel '{}' uses tensors, whose elements --checked=init does not track; all other checks apply",
                info.function->getName().str());
  LowerOptions lower;
  lower.check_tensors = bool(options.checked);
  lower.wide_vectors = row_of(options.level).is_wide;
  lower.expand_memory = !bool(options.checked);  // one check for the whole of it
  lower.name_texels = bool(options.checked);
  lower.wide_products = options.wide_products;
  lower.small_floats = info.fast_math ? SmallFloatRounding::per_expression : SmallFloatRounding::per_operation;
  SMELT_TRY_VOID(lower_air_operations(module, lower));
  pass_bfloats_as_integers(module);
  if (options.keep_lane_functions) keep_lane_functions(module, target);
  return Maker(module, info, options).make(target);
}

}  // namespace smelt::aot::cpu
