// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/compile_kernel.hpp"

#include "abi/function_tables.hpp"
#include "allow_list/allow_list.hpp"
#include "allow_list/machine_code.hpp"
#include "codegen/back_edges.hpp"
#include "codegen/flat_link.hpp"
#include "codegen/long_code.hpp"
#include "codegen/private_memory.hpp"
#include "codegen/unreachable.hpp"
#include "interface/limits.hpp"
#include "interface/reflect.hpp"
#include "ir_reader/parse.hpp"
#include "kernel_ir/cpu_only.hpp"
#include "kernel_ir/kernel_module.hpp"
#include "lanes/byte_textures.hpp"
#include "lanes/specialise.hpp"
#include "launch/launch.hpp"
#include "llvm_support/diagnostics.hpp"
#include "llvm_support/guard.hpp"
#include "llvm_support/listed_lines.hpp"
#include "llvm_support/watch.hpp"
#include "lower/tensors.hpp"
#include "regions/sites.hpp"
#include "regions/uniformity.hpp"
#include "runtime/runtime.hpp"
#include "work_item/long_functions.hpp"
#include "work_item/private_buffers.hpp"
#include "work_item/sure_reach.hpp"
#include "work_item/waiting.hpp"
#include "work_item/watch.hpp"
#include "work_item/wide_products.hpp"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <ctime>
#include <optional>

namespace smelt::aot::cpu {
namespace {

/// Gives the processor seconds of this thread since the last time, or since it was made.
class Lap {
 public:
  double operator()() {
    const double before = last_;
    last_ = now();
    return last_ - before;
  }

 private:
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  double last_ = now();
};

Result<void> verify(const llvm::Module& module, const char* after) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!llvm::verifyModule(module, &stream)) return {};
  return fail(Errc::compile_failed, "invalid IR after {}: {}", after, stream.str());
}

#ifdef NDEBUG
constexpr bool kCheckMachineCode = false;
#else
constexpr bool kCheckMachineCode = true;
#endif

constexpr size_t kManyGuardedAccesses = 5;

/// Accesses that some threads make and others do not. LLVM's loop vectoriser masks each of them; lanes copy the code
/// for when all are on (lanes/specialise.cpp).
size_t guarded_accesses(const WorkItem& item) {
  const Uniformity uniformity(item);
  size_t count = 0;
  for (const llvm::BasicBlock& block : *item.function)
    if (uniformity.is_under_divergence(&block)) count += lanes::memory_accesses(block);
  return count;
}

bool has_loop(llvm::Function& function) {
  const llvm::DominatorTree dominators(function);
  return !llvm::LoopInfo(dominators).empty();
}

/// LLVM 19 thinks that x86 converts eight halves one by one, and vectorises such loops four wide.
bool converts_halves(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    return (llvm::isa<llvm::FPExtInst>(instruction) &&
            instruction.getOperand(0)->getType()->getScalarType()->isHalfTy()) ||
           (llvm::isa<llvm::FPTruncInst>(instruction) && instruction.getType()->getScalarType()->isHalfTy());
  });
}

/// Whether the code reads them from the dispatch block.
bool binds_handles(const KernelEntry& info) {
  return llvm::any_of(info.interface.parameters, [](const EntryParameter& parameter) {
    const auto* binding = std::get_if<Binding>(&parameter);
    return binding != nullptr && (binding->kind == BindingClass::texture || binding->kind == BindingClass::sampler);
  });
}

bool has_atomics(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function),
                      [](const llvm::Instruction& instruction) { return instruction.isAtomic(); });
}

bool calls_runtime(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    return call != nullptr && call->getCalledFunction() != nullptr && stays_called(*call->getCalledFunction());
  });
}

class KernelCompiler {
 public:
  KernelCompiler(const AirModuleView& view, const CpuOptions& options, bool list)
      : view_(view), options_(options), list_(list) {}

  Result<CompiledKernel> compile() {
    Lap lap;
    SMELT_TRY(target_, make_target_machine(options_.level));
    SMELT_TRY_VOID(read());
    SMELT_TRY(const KernelEntry info, read_kernel_entry(*module_));
    SMELT_TRY(const PreparedKernel prepared, make_work_item(*module_, info, *target_,
                                                            {.level = options_.level,
                                                             .checked = options_.checked,
                                                             .keep_lane_functions = may_go_by_lanes(),
                                                             .wide_products = wide_products_,
                                                             .keep_lines = list_}));
    SMELT_TRY_VOID(check("making the work item"));
    std::optional<EndedLoops> ended;
    if (options_.checked)
      ended = EndedLoops::unbounded;
    else if (may_go_on(*module_))
      ended = EndedLoops::uncounted;
    const bool waits = may_wait(*module_);
    // Checked code says it of each access, and goes on.
    const std::vector<SureReach> reaches =
        bool(options_.checked) ? std::vector<SureReach>() : find_sure_reach(prepared.item);
    CompiledKernel result;
    result.seconds.work_item = lap();
    // Watched threads run one after the other, so nobody needs a copy.
    if (!options_.checked.watches()) result.row.private_buffers = split_private_atomics(prepared.item);
    SMELT_TRY(const LaunchedKernel launched, emit_loops(prepared));
    SMELT_TRY_VOID(check("making the loops of a launch"));
    result.seconds.loops = lap();
    refuse_short_buffers(*module_->getFunction(kEntryName), reaches);
    for (llvm::Function& function : *module_)
      if (!function.isDeclaration()) set_function_attributes(function, *target_, options_.level);
    llvm::Function& entry = *module_->getFunction(kEntryName);
    tell_sites(entry);
    if (list_) adopt_locations(*module_);
    inline_array_holders(*module_, entry);
    keep_whole_registers(*module_, options_.level);
    optimise(*module_, *target_, launched.method == "lanes" ? Vectors::made : Vectors::wanted, options_.effort);
    if (ended) end_at_back_edges(*module_, entry, *ended);
    return_at_unreachable(*module_);
    outline_long_code(entry);
    SMELT_TRY(const uint32_t fixed_bytes,
              move_large_arrays(*module_, entry, std::max(launched.fixed_bytes, prepared.threadgroup_extent),
                                launched.bytes_per_thread));
    outline_others(entry);
    SMELT_TRY_VOID(check("optimising"));
    result.seconds.optimise = lap();
    if (list_) {
      SMELT_TRY(result.assembly, assembly());
    }
    SMELT_TRY(const Bytes object, emit_object(*module_, *target_));
    if (!first_error_->empty()) return fail(Errc::compile_failed, "LLVM: {}", *first_error_);
    if (kCheckMachineCode || options_.verify_ir)
      SMELT_TRY_VOID(
          allow_list::check_machine_code(object, *target_, {.calls_services = logs_ || options_.checked.watches()}));
    SMELT_TRY_VOID(check_stack(entry, object));
    SMELT_TRY(FlatCode code, flat_link(object, kEntryName));

    result.row.name = std::string(view_.name);
    result.row.range = launched.range;
    result.row.waits = waits;
    result.row.checked = options_.checked;
    result.row.entry_offset = code.entry_offset;
    result.row.threadgroup_bytes = prepared.threadgroup_bytes;
    result.row.fixed_bytes = fixed_bytes;
    result.row.bytes_per_thread = launched.bytes_per_thread;
    result.row.constants_bytes = prepared.constants_bytes;
    result.row.constants = prepared.constants;
    result.row.method = launched.method;
    if (binds_handles(info)) result.row.oldest = schema::kCpuSliceWithTextures;
    if (tensors_) result.row.oldest = schema::kCpuSliceWithTensors;
    if (tables_) result.row.oldest = schema::kCpuSliceWithTables;
    if (options_.checked) result.row.oldest = schema::kCpuSliceThatChecks;
    if (waits) result.row.oldest = schema::kCpuSliceThatWaits;
    result.code = std::move(code.bytes);
    result.seconds.generate = lap();
    return result;
  }

 private:
  Result<void> read() {
    SMELT_TRY(kernel_module_, input::parse_module(view_.bitcode, view_.name));
    module_ = kernel_module_.module.get();
    install_diagnostics(*kernel_module_.context, first_error_);
    tensors_ = has_tensors(*module_);
    logs_ = llvm::any_of(*module_, [](const llvm::Function& f) { return f.getName().starts_with("air.os_log"); });
    const bool is_cpu_only = kernel_ir::is_cpu_only(*module_);  // admit() leaves no mark
    if (auto admitted = allow_list::admit(*module_); !admitted) {
      // What the entry is given may say it in Metal's words: an imageblock, a table.
      auto entry = read_kernel_entry(*module_);
      if (!entry && entry.error().code == Errc::unsupported) return tl::unexpected(std::move(entry).error());
      return admitted;
    }
    if (const uint64_t bytes = air::threadgroup_bytes(*module_); bytes > air::kMostThreadgroupBytes && !is_cpu_only)
      return fail(Errc::threadgroup_memory_too_large, "{}", air::too_much_threadgroup_memory(view_.name, bytes));
    tables_ = has_function_tables(*module_);
    wide_products_ = !options_.checked && options_.method != CpuMethod::lanes && has_wide_products(*module_);
    SMELT_TRY_VOID(bind_function_tables(*module_, options_.visible));
    install_diagnostics(*kernel_module_.context, first_error_);
    const bool has_lines = module_->debug_compile_units_begin() != module_->debug_compile_units_end();
    if (list_ || (options_.checked && !has_lines)) {
      llvm::StripDebugInfo(*module_);
      locate_in_listing(*module_, list_module(*module_));
    }
    return {};
  }

  /// The rest, whose frames stay on the stack: scratch memory is the entry's.
  void outline_others(const llvm::Function& entry) {
    std::vector<llvm::Function*> others;
    for (llvm::Function& function : *module_)
      if (!function.isDeclaration() && &function != &entry) others.push_back(&function);
    for (llvm::Function* function : others) outline_long_code(*function);
  }

  /// Of a copy, since the object is to be what it is without any debug info.
  Result<std::string> assembly() {
    adopt_locations(*module_);
    SMELT_TRY(std::string text, emit_assembly(*llvm::CloneModule(*module_), *target_));
    llvm::StripDebugInfo(*module_);
    return text;
  }

  Result<void> check(const char* after) {
    if (!first_error_->empty()) return fail(Errc::compile_failed, "LLVM, {}: {}", after, *first_error_);
    return options_.verify_ir ? verify(*module_, after) : Result<void>{};
  }

  Result<LaunchedKernel> emit_loops(const PreparedKernel& prepared) {
    const LaunchContext context{*module_, *target_, options_.level, prepared.threadgroup_extent, options_.checked};
    const WorkItem& item = prepared.item;
    // Straight-line kernels are LLVM's loop vectoriser's own; for all others lanes win (docs/design/cpu-lanes.md).
    const bool by_loops = wide_products_ || is_straight(item) || has_long_functions(*module_);  // lanes take no calls
    if (may_go_by_lanes() && (options_.method == CpuMethod::lanes || !by_loops)) return emit_gangs(context, item);
    if (options_.method == CpuMethod::loop && !item.grid_only)
      return fail(Errc::unsupported, "not one loop: the kernel has barriers, simdgroup operations or group values");
    if (item.grid_only && options_.method != CpuMethod::regions) return emit_grid_loop(context, item);
    return emit_thread_loop(context, item);
  }

  bool may_go_by_lanes() const {
    return !bool(options_.checked) && (options_.method == CpuMethod::lanes || options_.method == CpuMethod::automatic);
  }

  bool is_straight(const WorkItem& item) const {
    if (!item.threads_are_alone() || has_loop(*item.function)) return false;
    // A vectoriser of loops leaves calls alone.
    if (calls_runtime(*item.function)) return false;
    // Lanes add up what they give one address, a threadgroup's own for example.
    if (!item.grid_only && has_atomics(*item.function)) return false;
    if (options_.effort == CpuEffort::fast) return true;
    return !converts_halves(*item.function) && guarded_accesses(item) < kManyGuardedAccesses;
  }

  Result<LaunchedKernel> emit_gangs(const LaunchContext& context, const WorkItem& item) {
    LaneOptions lanes;
    lanes.target = target_.get();
    lanes.native_gather = row_of(options_.level).is_wide;
    lanes.verify = options_.verify_ir;
    lanes.threadgroup_memory_has_room = !options_.checked;
    lanes.one_layout = options_.effort == CpuEffort::fast;
    if (lanes.one_layout) {
      lanes.one_function_from = 0;
      lanes.inline_texels = 2;
    }
    SMELT_TRY(auto variants, vectorise_lanes(*module_, item, lanes));
    SMELT_TRY_VOID(check("vectorising"));
    if (item.threads_are_alone() && options_.effort != CpuEffort::fast)
      for (const GangVariant& variant : variants) copy_for_byte_textures(*variant.full.function);
    SMELT_TRY_VOID(link_runtime(*module_));  // what texels of all lanes at once are
    if (lanes.native_gather) use_wide_instructions(*module_);
    const bool in_step = barriers_are_uniform(item, Uniformity(item), true);
    item.function->eraseFromParent();
    return emit_gang_loop(context, std::move(variants), in_step);
  }

  const AirModuleView& view_;
  const CpuOptions& options_;
  const bool list_;
  std::shared_ptr<std::string> first_error_ = std::make_shared<std::string>();
  std::unique_ptr<llvm::TargetMachine> target_;
  KernelModule kernel_module_;
  llvm::Module* module_ = nullptr;  ///< of kernel_module_
  bool logs_ = false;
  bool tensors_ = false;
  bool tables_ = false;
  bool wide_products_ = false;
};

Result<CompiledKernel> compile_guarded(const AirModuleView& view, const CpuOptions& options, bool list) {
  return contained({}, [&] { return std::make_unique<KernelCompiler>(view, options, list)->compile(); });
}

Result<CompiledKernel> compile(const AirModuleView& module, const CpuOptions& options, bool list) {
  Result<CompiledKernel> first = compile_guarded(module, options, list);
  if (first || options.method != CpuMethod::automatic || options.checked) return first;
  if (was_ended(first.error())) return first;
  CpuOptions fallback = options;
  fallback.method = CpuMethod::regions;
  Result<CompiledKernel> second = compile_guarded(module, fallback, list);
  if (second) {
    second->row.method += "; lanes: " + first.error().message;
  } else if (second.error().code == Errc::unsupported && second.error().message != first.error().message) {
    return fail(Errc::unsupported, "{}; and {}", first.error().message, second.error().message);
  }
  return second;
}

}  // namespace

Result<CompiledKernel> compile_kernel(const AirModuleView& module, const CpuOptions& options) {
  return compile(module, options, false);
}

Result<CompiledKernel> list_kernel(const AirModuleView& module, const CpuOptions& options) {
  return compile(module, options, true);
}

}  // namespace smelt::aot::cpu
