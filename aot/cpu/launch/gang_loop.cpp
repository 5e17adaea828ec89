// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gangs: each runs from barrier to barrier as one piece of straight vector code, so a gang is to this loop what a
// thread is to the others, only that its values are vectors.
//
// Gangs that cannot disagree about the next barrier run in step: for each region one loop over the gangs. Else each
// gang remembers the site it waits at: gangs that ended early, or wait elsewhere, hold nobody up.
//
// A kernel comes in up to three layouts; a threadgroup picks the one that suits its width (docs/design/cpu-lanes.md 2):
//   no lane-bound operation:  row32 if wider than 16 or one-dimensional, row16 if 8 to 16 wide, else linear32
//   lanes are simdgroup lanes: row32 if the width is a multiple of 32 or one-dimensional, else linear32
// A kernel that never asks for a position has linear32 alone.
#include "abi/memory_function.hpp"
#include "launch/frame.hpp"
#include "lower/lower.hpp"

#include <set>

namespace smelt::aot::cpu {
namespace {

std::string name_of(LaneLayout layout) {
  return layout == LaneLayout::row32 ? "row32" : layout == LaneLayout::row16 ? "row16" : "linear32";
}

/// Threads that may share one gang's context at worst: rows of 17 threads use gangs of 32, rows of 8 gangs of 16.
uint64_t least_threads_per_gang(LaneLayout layout) {
  return layout == LaneLayout::row16 ? 8 : layout == LaneLayout::row32 ? 16 : 32;
}

/// Instructions of all regions together up to which a kernel becomes one function: what a threadgroup sets up then
/// costs more than its work, and belongs before the loop over threadgroups.
constexpr size_t kSmallKernel = 1200;

/// Calls one(offset, lanes on or null when all are) for each gang of `length` threads in a row.
template <class One>
void for_gangs_of(FlowBuilder& builder, const GangVariant& variant, llvm::Value* length, One one) {
  const unsigned lanes = lane_count(variant.layout);
  if (variant.is_one()) {
    llvm::Value* rest =
        builder.CreateZExt(builder.CreateIsNotNull(builder.CreateAnd(length, lanes - 1)), length->getType());
    llvm::Value* count = builder.CreateAdd(builder.CreateUDiv(length, builder.getInt32(lanes)), rest);
    builder.loop(builder.getInt32(0), count, 1, [&](llvm::Value* i) {
      llvm::Value* at = builder.CreateMul(i, builder.getInt32(lanes));
      llvm::Value* left = builder.CreateSub(length, at);
      one(at, builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, builder.getInt32(lanes)));
    });
    return;
  }
  llvm::Value* whole = builder.CreateAnd(length, ~(lanes - 1));
  builder.loop(builder.getInt32(0), whole, lanes, [&](llvm::Value* at) { one(at, nullptr); });
  builder.if_then(builder.CreateICmpULT(whole, length), [&] { one(whole, builder.CreateSub(length, whole)); });
}

class GangLoop {
 public:
  GangLoop(const LaunchContext& context, GangVariant variant)
      : context_(context),
        ir_(context.module.getContext()),
        variant_(std::move(variant)),
        i32_(llvm::Type::getInt32Ty(ir_)) {}

  Result<void> cut() {
    SMELT_TRY_VOID(cut(variant_.full, full_));
    if (variant_.is_one())
      partial_ = full_;
    else
      SMELT_TRY_VOID(cut(variant_.partial, partial_));
    pc_place_ = llvm::alignTo(std::max(full_.layout.bytes(), partial_.layout.bytes()), 64);
    return {};
  }

  uint64_t bytes_per_thread() const {
    const uint64_t gang = sites_ == 0 ? 0 : pc_place_ + 64;
    return llvm::divideCeil(gang, least_threads_per_gang(variant_.layout));
  }

  /// Runs the threadgroup at numbers 0..2.
  Frame make_group(bool in_step) {
    const std::string name = "smelt.group." + name_of(variant_.layout);
    if (in_step && sites_ != 0) {
      std::map<unsigned, llvm::Function*> runs;
      std::map<llvm::Function*, llvm::Function*> run_of;
      for (const auto& [number, body] : full_.regions.bodies) {
        llvm::Function*& run = run_of[body];
        if (run == nullptr) run = make_run(number);
        runs[number] = run;
      }
      return make_group_in_step(context_, variant_.full, name, runs);
    }
    const Frame frame(context_, variant_.full, llvm::Type::getVoidTy(ir_), 3, name);
    make_steps(frame);
    FlowBuilder builder(frame.entry());
    BuiltinValues builtins;
    llvm::Value* threads =
        load_group_builtins(builder, frame.dispatch(), {frame.number(0), frame.number(1), frame.number(2)}, builtins);
    if (sites_ == 0) {
      for_each_gang(builder, builtins, threads, [&](llvm::Value*, llvm::Value* lanes_on) {
        run_region(builder, frame, builtins, 0, builder.getInt32(0), frame.context(), lanes_on);
      });
      builder.CreateRetVoid();
      return frame;
    }
    for_each_gang(builder, builtins, threads, [&](llvm::Value* gang, llvm::Value*) {
      builder.CreateStore(builder.getInt32(0), pc(builder, frame, gang));
    });
    builder.repeat_while([&] {
      llvm::AllocaInst* more = builder.variable(builder.getInt1Ty(), "more", builder.getFalse());
      for_each_gang(builder, builtins, threads, [&](llvm::Value* gang, llvm::Value* lanes_on) {
        llvm::Value* at = pc(builder, frame, gang);
        llvm::Value* site = builder.CreateLoad(i32_, at);
        builder.if_then(builder.CreateICmpNE(site, builder.getInt32(kEnded)), [&] {
          llvm::Value* next = run_site(builder, frame, builtins, site, context_of(builder, frame, gang), lanes_on);
          builder.CreateStore(next, at);
          llvm::Value* goes_on = builder.CreateICmpNE(next, builder.getInt32(kEnded));
          builder.CreateStore(builder.CreateOr(builder.get(more), goes_on), more);
        });
      });
      return builder.get(more);
    });
    builder.CreateRetVoid();
    return frame;
  }

  const WorkItem& item() const { return variant_.full; }

  /// Before make_group: instructions in all regions.
  size_t instruction_count() const {
    std::set<const llvm::Function*> bodies;
    for (const Cut* cut : {&full_, &partial_})
      for (const auto& [number, body] : cut->regions.bodies) bodies.insert(body);
    size_t count = 0;
    for (const llvm::Function* body : bodies) count += body->getInstructionCount();
    return count;
  }

 private:
  struct Cut {
    std::vector<MeetingPoint> sites;
    ContextLayout layout{Unit::gang};
    Regions regions;
  };

  Result<void> cut(WorkItem& item, Cut& cut) {
    plain_single_thread_atomics(*item.function);
    auto sites = find_numbered_sites(item);
    if (!sites) return fail(Errc::unsupported, "vectorising left a barrier in two places");
    cut.sites = std::move(*sites);
    split_at_sites(cut.sites);
    LiveState state = keep_live_values(*item.function, cut.sites, nullptr);
    compute_liveness(*item.function, cut.sites, state);
    // Two functions for full and partial gangs might not agree on which regions share one.
    const bool share = variant_.is_one();
    cut.regions = make_regions(item, cut.sites, state, cut.layout, item.function->getName().str(), share);
    sites_ = std::max(sites_, cut.sites.size());
    return {};
  }

  llvm::Value* context_of(llvm::IRBuilderBase& builder, const Frame& frame, llvm::Value* gang) {
    llvm::Value* offset =
        builder.CreateMul(builder.CreateZExt(gang, builder.getInt64Ty()), builder.getInt64(pc_place_ + 64));
    return builder.CreateInBoundsGEP(builder.getInt8Ty(), frame.context(), offset);
  }

  llvm::Value* pc(llvm::IRBuilderBase& builder, const Frame& frame, llvm::Value* gang) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), context_of(builder, frame, gang), pc_place_);
  }

  /// Calls body(gang number, lanes on or null when all are) with the builtins of each gang's first lane.
  template <class Body>
  void for_each_gang(FlowBuilder& builder, BuiltinValues& builtins, llvm::Value* threads, Body body) {
    llvm::AllocaInst* counter = builder.variable(i32_, "gang", builder.getInt32(0));
    const auto size = [&](unsigned i) { return builtins.get(Builtin::threads_per_threadgroup, i); };
    const auto one = [&](std::array<llvm::Value*, 3> place, llvm::Value* index, llvm::Value* lanes_on) {
      set_thread_builtins(builder, place, index, builtins);
      llvm::Value* gang = builder.get(counter);
      body(gang, lanes_on);
      builder.CreateStore(builder.CreateAdd(gang, builder.getInt32(1)), counter);
    };
    const auto cut_row = [&](llvm::Value* length, auto place_of, auto index_of) {
      for_gangs_of(builder, variant_, length,
                   [&](llvm::Value* x, llvm::Value* lanes_on) { one(place_of(x), index_of(x), lanes_on); });
    };
    if (variant_.layout == LaneLayout::linear32) {
      cut_row(
          threads,
          [&](llvm::Value* index) -> std::array<llvm::Value*, 3> {
            llvm::Value* rest = builder.CreateUDiv(index, size(0));
            return {builder.CreateURem(index, size(0)), builder.CreateURem(rest, size(1)),
                    builder.CreateUDiv(rest, size(1))};
          },
          [](llvm::Value* index) { return index; });
      return;
    }
    builder.loop(builder.getInt32(0), size(2), 1, [&](llvm::Value* z) {
      builder.loop(builder.getInt32(0), size(1), 1, [&](llvm::Value* y) {
        llvm::Value* row = builder.CreateMul(builder.CreateAdd(builder.CreateMul(z, size(1)), y), size(0));
        cut_row(
            size(0), [&](llvm::Value* x) { return std::array<llvm::Value*, 3>{x, y, z}; },
            [&](llvm::Value* x) { return builder.CreateAdd(row, x); });
      });
    });
  }

  /// The region of `number` inlined here, which goes on from `site`; gives the next site.
  llvm::Value* run_region(FlowBuilder& builder, const Frame& frame, const BuiltinValues& builtins, unsigned number,
                          llvm::Value* site, llvm::Value* context, llvm::Value* lanes_on) {
    const WorkItem& item = lanes_on == nullptr ? variant_.full : variant_.partial;
    const Cut& cut = lanes_on == nullptr ? full_ : partial_;
    auto operands = frame.work_item_operands(builder, item, builtins, lanes_on);
    operands.append({context, builder.getInt64(0), builder.getInt64(0), site});
    return builder.CreateExtractValue(builder.CreateCall(cut.regions.bodies.at(number), operands), 0);
  }

  /// Runs one region for every gang of the group at numbers 0..2, from site 3; gives the site where they wait.
  llvm::Function* make_run(unsigned number) {
    const Frame frame(context_, variant_.full, i32_, 4, variant_.full.function->getName().str() + ".run");
    FlowBuilder builder(frame.entry());
    BuiltinValues builtins;
    llvm::Value* threads =
        load_group_builtins(builder, frame.dispatch(), {frame.number(0), frame.number(1), frame.number(2)}, builtins);
    llvm::AllocaInst* next = builder.variable(i32_, "next");
    for_each_gang(builder, builtins, threads, [&](llvm::Value* gang, llvm::Value* lanes_on) {
      llvm::Value* context = context_of(builder, frame, gang);
      builder.CreateStore(run_region(builder, frame, builtins, number, frame.number(3), context, lanes_on), next);
    });
    builder.CreateRet(builder.get(next));
    return frame.function();
  }

  /// One function for each site and kind of gang, so that each is optimised on its own.
  void make_steps(const Frame& model) {
    if (sites_ == 0) return;
    std::map<llvm::Function*, llvm::Function*> step_of;
    for (const bool is_full : {true, false}) {
      const WorkItem& item = is_full ? variant_.full : variant_.partial;
      const Cut& cut = is_full ? full_ : partial_;
      for (const auto& [number, body] : cut.regions.bodies) {
        llvm::Function*& step = step_of[body];
        if (step == nullptr) step = make_step(model, item, *body);
        (is_full ? full_steps_ : partial_steps_)[number] = step;
      }
    }
  }

  llvm::Function* make_step(const Frame& model, const WorkItem& item, llvm::Function& body) {
    llvm::SmallVector<llvm::Type*> types;
    for (llvm::Value* value : model.values()) types.push_back(value->getType());
    const size_t first = types.size();
    types.append(item.parameters.size() + 1, i32_);
    auto* function =
        llvm::Function::Create(llvm::FunctionType::get(i32_, types, false), llvm::GlobalValue::InternalLinkage,
                               body.getName() + ".step", context_.module);
    function->setAttributes(model.function()->getAttributes());
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(ir_, "entry", function));
    llvm::SmallVector<llvm::Value*> operands;
    unsigned bound = 4;
    for (size_t i = 0; i < item.parameters.size(); ++i) {
      switch (item.parameters[i].kind) {
        case WorkParameter::Kind::bound:
          operands.push_back(function->getArg(bound++));
          break;
        case WorkParameter::Kind::threadgroup_memory:
          operands.push_back(function->getArg(3));
          break;
        case WorkParameter::Kind::dispatch:
          operands.push_back(function->getArg(0));
          break;
        default:
          operands.push_back(function->getArg(static_cast<unsigned>(first + i)));
          break;
      }
    }
    llvm::Argument* site = function->getArg(static_cast<unsigned>(types.size()) - 1);
    operands.append({function->getArg(1), builder.getInt64(0), builder.getInt64(0), site});
    builder.CreateRet(builder.CreateExtractValue(builder.CreateCall(&body, operands), 0));
    return function;
  }

  llvm::Value* run_site(FlowBuilder& builder, const Frame& frame, const BuiltinValues& builtins, llvm::Value* site,
                        llvm::Value* context, llvm::Value* lanes_on) {
    const WorkItem& item = lanes_on == nullptr ? variant_.full : variant_.partial;
    const auto& steps = lanes_on == nullptr ? full_steps_ : partial_steps_;
    auto operands = frame.values();
    operands[1] = context;
    for (llvm::Value* value : frame.work_item_operands(builder, item, builtins, lanes_on))
      operands.push_back(value->getType() == i32_ ? value : llvm::PoisonValue::get(i32_));
    operands.push_back(site);
    return call_for_site(builder, site, steps, operands);
  }

  const LaunchContext& context_;
  llvm::LLVMContext& ir_;
  GangVariant variant_;
  llvm::Type* i32_;
  size_t sites_ = 0;
  Cut full_;
  Cut partial_;
  uint64_t pc_place_ = 0;
  std::map<unsigned, llvm::Function*> full_steps_;
  std::map<unsigned, llvm::Function*> partial_steps_;
};

/// Kernels without a group: rows of 32 along x over a box of threads.
Result<LaunchedKernel> emit_box_loop(const LaunchContext& context, const GangVariant& variant) {
  llvm::LLVMContext& ir = context.module.getContext();
  for (const WorkItem* item : {&variant.full, &variant.partial}) {
    plain_single_thread_atomics(*item->function);
    item->function->addFnAttr(llvm::Attribute::AlwaysInline);
  }
  const Frame frame(context, variant.full, llvm::Type::getVoidTy(ir), 6, "smelt.box");
  FlowBuilder builder(frame.entry());
  BuiltinValues builtins;
  load_grid_builtins(builder, frame.dispatch(), builtins);
  builder.loop(frame.number(2), frame.number(5), 1, [&](llvm::Value* z) {
    builder.loop(frame.number(1), frame.number(4), 1, [&](llvm::Value* y) {
      builtins.set(Builtin::thread_position_in_grid, y, 1);
      builtins.set(Builtin::thread_position_in_grid, z, 2);
      llvm::Value* length = builder.CreateSub(frame.number(3), frame.number(0));
      for_gangs_of(builder, variant, length, [&](llvm::Value* at, llvm::Value* lanes_on) {
        const WorkItem& item = lanes_on == nullptr ? variant.full : variant.partial;
        builtins.set(Builtin::thread_position_in_grid, builder.CreateAdd(frame.number(0), at), 0);
        builder.CreateCall(item.function, frame.work_item_operands(builder, item, builtins, lanes_on));
      });
    });
  });
  builder.CreateRetVoid();
  make_entry(context, variant.full, frame, schema::CpuRangeKind::threads, 0, 0);
  return LaunchedKernel{schema::CpuRangeKind::threads, 0, 0, "lanes"};
}

}  // namespace

Result<LaunchedKernel> emit_gang_loop(const LaunchContext& context, std::vector<GangVariant> variants, bool in_step) {
  if (variants.empty()) return fail(Errc::unsupported, "the vectoriser made no variant");
  if (variants.front().full.grid_only) return emit_box_loop(context, variants.front());

  llvm::LLVMContext& ir = context.module.getContext();
  const bool lane_bound = variants.front().full.has_collectives;
  std::vector<GangLoop> loops;
  std::map<LaneLayout, llvm::Function*> groups;
  uint64_t bytes_per_thread = 0;
  size_t instructions = 0;
  loops.reserve(variants.size());
  for (GangVariant& variant : variants) {
    const LaneLayout layout = variant.layout;
    loops.emplace_back(context, std::move(variant));
    SMELT_TRY_VOID(loops.back().cut());
    bytes_per_thread = std::max(bytes_per_thread, loops.back().bytes_per_thread());
    instructions += loops.back().instruction_count();
    groups[layout] = loops.back().make_group(in_step).function();
  }
  if (groups.size() > 1 && !groups.contains(LaneLayout::linear32))
    return fail(Errc::unsupported, "the vectoriser made no linear32 variant");

  const Frame choose(context, loops.front().item(), llvm::Type::getVoidTy(ir), 3, "smelt.group");
  FlowBuilder builder(choose.entry());
  BuiltinValues builtins;
  load_group_builtins(builder, choose.dispatch(), {choose.number(0), choose.number(1), choose.number(2)}, builtins);
  const auto size = [&](unsigned i) { return builtins.get(Builtin::threads_per_threadgroup, i); };
  auto operands = choose.values();
  for (unsigned i = 0; i < 3; ++i) operands.push_back(choose.number(i));
  llvm::Value* flat = builder.CreateICmpEQ(builder.CreateMul(size(1), size(2)), builder.getInt32(1));
  llvm::Value* wide = lane_bound ? builder.CreateICmpEQ(builder.CreateAnd(size(0), 31), builder.getInt32(0))
                                 : builder.CreateICmpUGT(size(0), builder.getInt32(16));
  const auto run = [&](LaneLayout layout) { builder.CreateCall(groups.at(layout), operands); };
  const auto run_rows_or_linear = [&] {
    builder.if_else(
        builder.CreateOr(flat, wide), [&] { run(LaneLayout::row32); },
        [&] {
          if (!groups.contains(LaneLayout::row16)) return run(LaneLayout::linear32);
          builder.if_else(
              builder.CreateICmpUGE(size(0), builder.getInt32(8)), [&] { run(LaneLayout::row16); },
              [&] { run(LaneLayout::linear32); });
        });
  };
  if (groups.size() == 1)
    run(groups.begin()->first);
  else
    run_rows_or_linear();
  builder.CreateRetVoid();
  if (instructions <= kSmallKernel)
    for (llvm::Function& function : context.module)
      if (function.hasLocalLinkage() && !function.hasFnAttribute(llvm::Attribute::Cold) &&
          !function.hasFnAttribute(kStaysCalled))
        function.removeFnAttr(llvm::Attribute::NoInline);
  const auto context_offset = static_cast<uint32_t>(llvm::alignTo(context.threadgroup_bytes, 64));
  make_entry(context, loops.front().item(), choose, schema::CpuRangeKind::groups, context_offset, context_offset);
  return LaunchedKernel{schema::CpuRangeKind::groups, context_offset,
                        static_cast<uint32_t>(llvm::alignTo(bytes_per_thread, 16)), "lanes"};
}

}  // namespace smelt::aot::cpu
