// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads of a simdgroup that wait for each other. Between two barriers a simdgroup runs until all its lanes wait at a
// barrier or have ended; then the next simdgroup does. Where lanes disagree, those at the lowest site number go first,
// and exactly those that are there form the active mask. Numbers follow the order of control flow, so lanes meet again
// as early as they can (docs/design/cpu-code.md 2).
//
//   pc[thread]        site that the thread waits at, or kEnded
//   state[simdgroup]  the site where all its lanes wait, kEnded, or kMixed: then ask pc
//
// A round (from one barrier to the next) lets every lane that has not ended go on once from its barrier, wherever that
// is: threads that returned early, or wait at different barriers, hold nobody up.
#include "launch/simdgroup_loop.hpp"

#include "smelt/schema/cpu_abi.h"

#include "launch/collective_code.hpp"
#include "launch/frame.hpp"
#include "lower/lower.hpp"
#include "runtime/runtime.hpp"
#include "work_item/watch.hpp"
#include "work_item/watch_calls.hpp"

namespace smelt::aot::cpu {
namespace {

constexpr uint32_t kMixed = 0xfffffffe;

/// Values kept across sites, added up over all of them. Each is stored before a site and loaded behind it; some
/// millions of them are minutes of compilation and gigabytes.
constexpr uint64_t kMostKept = 400000;

/// The memory through which a collective's operands and result pass.
struct Exchange {
  std::vector<llvm::AllocaInst*> operands;
  llvm::AllocaInst* result = nullptr;
};

class SimdgroupLoop {
 public:
  SimdgroupLoop(const LaunchContext& context, const WorkItem& item)
      : context_(context),
        ir_(context.module.getContext()),
        item_(item),
        layout_(Unit::thread),
        i32_(llvm::Type::getInt32Ty(ir_)) {}

  Result<LaunchedKernel> emit_loops() {
    add_reconvergence(item_);
    sites_ = find_sites(item_, true);
    if (const uint64_t kept = estimate_kept(sites_, *item_.function); kept > kMostKept)
      return fail(
          Errc::unsupported,
          "{} places where the threads of a simdgroup wait for each other, with about {} values kept across "
          "them, are too many for CPU code, which takes at most {} values; a smaller tile for each threadgroup, "
          "or more threads for the same tile, makes fewer",
          sites_.size(), kept, kMostKept);
    split_at_sites(sites_);
    open_exchanges();
    std::vector<llvm::AllocaInst*> slots;
    for (const Exchange& exchange : exchanges_) {
      slots.insert(slots.end(), exchange.operands.begin(), exchange.operands.end());
      if (exchange.result != nullptr) slots.push_back(exchange.result);
    }
    LiveState state = keep_live_values(*item_.function, sites_, nullptr, slots);
    compute_liveness(*item_.function, sites_, state);
    keep_exchanges_alive(state);
    pc_place_ = layout_.add(4, 64);
    state_place_ = layout_.add(4, 4);
    regions_ = make_regions(item_, sites_, state, layout_, "smelt.region", false);

    const auto context_offset = static_cast<uint32_t>(llvm::alignTo(context_.threadgroup_bytes, 64));
    for (const auto& [number, body] : regions_.bodies) runs_.emplace(number, make_run(number, body));
    make_step();
    SMELT_TRY_VOID(make_collectives());
    const Frame group = make_group();
    make_entry(context_, item_, group, schema::CpuRangeKind::groups, context_offset, context_offset);
    return LaunchedKernel{schema::CpuRangeKind::groups, context_offset,
                          static_cast<uint32_t>(llvm::alignTo(layout_.bytes(), 16)), "regions"};
  }

 private:
  /// Operands are stored before a site and the result is loaded after it.
  void open_exchanges() {
    exchanges_.resize(sites_.size());
    for (size_t i = 0; i < sites_.size(); ++i) {
      if (sites_[i].kind != MeetingPoint::Kind::collective) continue;
      llvm::CallInst* call = sites_[i].call;
      Exchange& exchange = exchanges_[i];
      llvm::IRBuilder<> slots(&*item_.function->getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
      llvm::IRBuilder<> before(call);
      const auto memory_type = [&](llvm::Type* type) {
        return type->isIntOrIntVectorTy(1) ? type->getWithNewBitWidth(8) : type;
      };
      for (llvm::Value* operand : call->args()) {
        llvm::Type* type = memory_type(operand->getType());
        llvm::AllocaInst* slot = slots.CreateAlloca(type);
        before.CreateStore(type == operand->getType() ? operand : before.CreateZExt(operand, type), slot);
        exchange.operands.push_back(slot);
      }
      if (call->getType()->isVoidTy()) continue;
      llvm::Type* type = memory_type(call->getType());
      exchange.result = slots.CreateAlloca(type);
      llvm::IRBuilder<> after(&*sites_[i].continuation->getFirstInsertionPt());
      llvm::Value* value = after.CreateLoad(type, exchange.result);
      if (type != call->getType()) value = after.CreateTrunc(value, call->getType());
      call->replaceAllUsesWith(value);
    }
  }

  /// The program never loads operands back, but the collective reads them where the site's answer leaves them.
  void keep_exchanges_alive(LiveState& state) {
    for (size_t i = 0; i < sites_.size(); ++i)
      for (unsigned v = 0; v < state.variables.size(); ++v)
        if (llvm::is_contained(exchanges_[i].operands, state.variables[v].slot)) state.live_at_site[i].set(v);
  }

  LaneArray lanes_of(llvm::IRBuilderBase& builder, const Frame& frame, llvm::AllocaInst* slot, llvm::Value* first) {
    llvm::Type* type = slot->getAllocatedType();
    const uint64_t bytes = context_.module.getDataLayout().getTypeAllocSize(type);
    return {layout_.address(builder, frame.context(), first, load_capacity(builder, frame.dispatch()),
                            regions_.place_of_slot.at(slot), bytes),
            type};
  }

  llvm::Value* word(llvm::IRBuilderBase& builder, const Frame& frame, uint64_t place, llvm::Value* index) {
    return layout_.address(builder, frame.context(), builder.CreateZExt(index, builder.getInt64Ty()),
                           load_capacity(builder, frame.dispatch()), place, 4);
  }

  static std::array<llvm::Value*, 3> position(const Frame& frame) {
    return {frame.number(0), frame.number(1), frame.number(2)};
  }

  /// Numbers: group position, first thread, threads. Runs one region for them; stores where each waits and gives the
  /// site if it is the same for all, else kMixed.
  Frame make_run(unsigned number, llvm::Function* body) {
    const Frame frame(context_, item_, i32_, 5, "smelt.run." + std::to_string(number));
    FlowBuilder builder(frame.entry());
    BuiltinValues builtins;
    llvm::Value* threads = load_group_builtins(builder, frame.dispatch(), position(frame), builtins);
    llvm::Value* capacity = load_capacity(builder, frame.dispatch());
    llvm::Value* pc = word(builder, frame, pc_place_, builder.getInt32(0));
    const auto size = [&](unsigned i) { return builtins.get(Builtin::threads_per_threadgroup, i); };
    const auto run = [&](llvm::Value* count, bool one_row) {
      llvm::AllocaInst* lowest = builder.variable(i32_, "lowest", builder.getInt32(~0u));
      llvm::AllocaInst* highest = builder.variable(i32_, "highest", builder.getInt32(0));
      loop_over_threads(builder, frame.number(3), count, {size(0), size(1)}, one_row,
                        unit_loop_properties(ir_, regions_.access_group),
                        [&](const std::array<llvm::Value*, 3>& place, llvm::Value* index) {
                          set_thread_builtins(builder, place, index, builtins);
                          auto operands = frame.work_item_operands(builder, item_, builtins, nullptr);
                          llvm::Value* unit = builder.CreateZExt(index, builder.getInt64Ty());
                          operands.append({frame.context(), unit, capacity, builder.getInt32(number)});
                          llvm::Value* next = builder.CreateExtractValue(builder.CreateCall(body, operands), 0);
                          llvm::StoreInst* store = builder.CreateStore(next, builder.CreateInBoundsGEP(i32_, pc, unit));
                          store->setMetadata(llvm::LLVMContext::MD_access_group, regions_.access_group);
                          const auto fold = [&](llvm::Intrinsic::ID operation, llvm::AllocaInst* into) {
                            builder.CreateStore(builder.CreateBinaryIntrinsic(operation, builder.get(into), next),
                                                into);
                          };
                          fold(llvm::Intrinsic::umin, lowest);
                          fold(llvm::Intrinsic::umax, highest);
                        });
      llvm::Value* low = builder.get(lowest);
      builder.CreateRet(
          builder.CreateSelect(builder.CreateICmpEQ(low, builder.get(highest)), low, builder.getInt32(kMixed)));
    };
    // A whole simdgroup of a one-dimensional group is the case worth a loop of constant length.
    llvm::BasicBlock* whole = builder.block("whole");
    llvm::BasicBlock* other = builder.block("other");
    llvm::Value* one_row = builder.CreateICmpEQ(size(0), threads);
    llvm::Value* full = builder.CreateICmpEQ(frame.number(4), builder.getInt32(kSimdWidth));
    builder.CreateCondBr(builder.CreateAnd(one_row, full), whole, other);
    builder.SetInsertPoint(whole);
    run(builder.getInt32(kSimdWidth), true);
    builder.SetInsertPoint(other);
    run(frame.number(4), false);
    return frame;
  }

  /// Numbers: group position, site, first thread, threads. Chooses the region.
  void make_step() {
    const Frame frame(context_, item_, i32_, 6, "smelt.step");
    FlowBuilder builder(frame.entry());
    llvm::BasicBlock* never = builder.block("never");
    new llvm::UnreachableInst(ir_, never);
    auto* choice = builder.CreateSwitch(frame.number(3), never, static_cast<unsigned>(runs_.size()));
    for (const auto& [number, run] : runs_) {
      llvm::BasicBlock* block = builder.block("site" + std::to_string(number));
      choice->addCase(builder.getInt32(number), block);
      builder.SetInsertPoint(block);
      auto operands = frame.values();
      for (const unsigned i : {0u, 1u, 2u, 4u, 5u}) operands.push_back(frame.number(i));
      builder.CreateRet(builder.CreateCall(run.function(), operands));
    }
    step_ = frame.function();
  }

  /// Numbers: site, first thread, mask. Does what happens at a site before its lanes go on.
  Result<void> make_collectives() {
    const Frame frame(context_, item_, llvm::Type::getVoidTy(ir_), 3, "smelt.collectives");
    FlowBuilder builder(frame.entry());
    llvm::BasicBlock* done = builder.block("done");
    auto* choice = builder.CreateSwitch(frame.number(0), done, static_cast<unsigned>(sites_.size()));
    for (size_t i = 0; i < sites_.size(); ++i) {
      const llvm::MDNode* meeting = sites_[i].call->getMetadata(kMeetMetadata);
      if (sites_[i].kind != MeetingPoint::Kind::collective && meeting == nullptr) continue;
      llvm::BasicBlock* block = builder.block("site" + std::to_string(sites_[i].number));
      choice->addCase(builder.getInt32(sites_[i].number), block);
      builder.SetInsertPoint(block);
      if (meeting != nullptr)
        call_meet(builder, context_.module, frame.dispatch(), frame.number(1), frame.number(2), *meeting);
      if (sites_[i].kind != MeetingPoint::Kind::collective) {
        builder.CreateBr(done);
        continue;
      }
      llvm::Value* first = builder.CreateZExt(frame.number(1), builder.getInt64Ty());
      std::vector<LaneArray> operands;
      for (llvm::AllocaInst* slot : exchanges_[i].operands) operands.push_back(lanes_of(builder, frame, slot, first));
      LaneArray result;
      if (exchanges_[i].result != nullptr) result = lanes_of(builder, frame, exchanges_[i].result, first);
      const auto stray = stray_lanes(builder, frame, *sites_[i].call);
      SMELT_TRY_VOID(emit_collective(builder, *sites_[i].collective, operands, result, frame.number(2), stray));
      builder.CreateBr(done);
    }
    builder.SetInsertPoint(done);
    builder.CreateRetVoid();
    collectives_ = frame.function();
    SMELT_TRY_VOID(link_runtime(context_.module));
    lower_small_floats(*collectives_, SmallFloatRounding::per_operation);
    return {};
  }

  /// Tells the loader of lanes that read lanes which are not there; nothing for code that does not look at that.
  StrayLanes stray_lanes(FlowBuilder& builder, const Frame& frame, const llvm::CallInst& call) {
    const auto* node = call.getMetadata(kPlaceMetadata);
    if (node == nullptr || !context_.checked.has(Check::sync)) return {};
    const std::string place = llvm::cast<llvm::MDString>(node->getOperand(0))->getString().str();
    return [this, &builder, &frame, place](llvm::Value* readers) {
      builder.if_then(builder.CreateIsNotNull(readers), [&] {
        call_watch(builder, frame.dispatch(), offsetof(smelt_cpu_watch, stray_lanes), builder.getVoidTy(),
                   {frame.number(1), readers, place_text(context_.module, place)});
      });
    };
  }

  /// Which SIMD group runs as the `index`th: the loader's to choose where it watches.
  llvm::Value* chosen_simdgroup(FlowBuilder& builder, const Frame& frame, llvm::Value* index, llvm::Value* count) {
    if (!context_.checked.watches()) return index;
    return call_watch(builder, frame.dispatch(), offsetof(smelt_cpu_watch, simdgroup), i32_, {index, count});
  }

  llvm::Value* call(FlowBuilder& builder, const Frame& frame, llvm::Function* function,
                    llvm::ArrayRef<llvm::Value*> numbers) {
    auto operands = frame.values();
    operands.append(numbers.begin(), numbers.end());
    return builder.CreateCall(function, operands);
  }

  /// Bit n says whether `site` (kEnded included) is where a lane rests until the next round.
  llvm::Value* rests(FlowBuilder& builder, llvm::Value* site) {
    llvm::Value* result = builder.CreateICmpEQ(site, builder.getInt32(kEnded));
    for (const MeetingPoint& barrier : sites_)
      if (barrier.kind == MeetingPoint::Kind::barrier)
        result = builder.CreateOr(result, builder.CreateICmpEQ(site, builder.getInt32(barrier.number)));
    return result;
  }

  Frame make_group() {
    const Frame frame(context_, item_, llvm::Type::getVoidTy(ir_), 3, "smelt.group");
    FlowBuilder builder(frame.entry());
    BuiltinValues builtins;
    llvm::Value* threads = load_group_builtins(builder, frame.dispatch(), position(frame), builtins);
    llvm::Value* simdgroups = builtins.get(Builtin::simdgroups_per_threadgroup);
    const auto state = [&](llvm::Value* simdgroup) { return word(builder, frame, state_place_, simdgroup); };
    builder.loop(builder.getInt32(0), simdgroups, 1,
                 [&](llvm::Value* simdgroup) { builder.CreateStore(builder.getInt32(0), state(simdgroup)); });
    builder.repeat_while([&] {
      llvm::AllocaInst* more = builder.variable(builder.getInt1Ty(), "more", builder.getFalse());
      builder.loop(builder.getInt32(0), simdgroups, 1, [&](llvm::Value* index) {
        llvm::Value* simdgroup = chosen_simdgroup(builder, frame, index, simdgroups);
        llvm::Value* at = state(simdgroup);
        llvm::Value* waits_at = builder.CreateLoad(i32_, at);
        builder.if_then(builder.CreateICmpNE(waits_at, builder.getInt32(kEnded)), [&] {
          llvm::Value* now = run_simdgroup(builder, frame, simdgroup, threads, waits_at);
          builder.CreateStore(now, at);
          builder.if_then(builder.CreateICmpNE(now, builder.getInt32(kEnded)),
                          [&] { builder.CreateStore(builder.getTrue(), more); });
        });
      });
      return builder.get(more);
    });
    builder.CreateRetVoid();
    return frame;
  }

  /// What one round of one simdgroup works on, in the code that is being made.
  struct Round {
    llvm::Value *first, *count, *full, *pc;  ///< first thread, how many there are, a bit for each, their pc
    llvm::AllocaInst* site;
    llvm::AllocaInst* todo;  ///< lanes that still have to go on in this round
    llvm::AllocaInst* mask;  ///< lanes at `site`
  };

  static llvm::Value* bit(FlowBuilder& builder, llvm::Value* lane) {
    return builder.CreateShl(builder.getInt32(1), lane);
  }
  llvm::Value* pc_of(FlowBuilder& builder, const Round& round, llvm::Value* lane) {
    return builder.CreateLoad(
        i32_, builder.CreateInBoundsGEP(i32_, round.pc, builder.CreateZExt(lane, builder.getInt64Ty())));
  }
  template <class Body>
  void each_lane_of(FlowBuilder& builder, const Round& round, llvm::AllocaInst* lanes, Body body) {
    builder.loop(builder.getInt32(0), round.count, 1, [&](llvm::Value* lane) {
      llvm::Value* in = builder.CreateIsNotNull(builder.CreateAnd(builder.get(lanes), bit(builder, lane)));
      builder.if_then(in, [&] { body(lane); });
    });
  }
  /// Adds the lane to `set` when `condition` holds.
  void add_lane(FlowBuilder& builder, llvm::AllocaInst* set, llvm::Value* lane, llvm::Value* condition) {
    builder.CreateStore(
        builder.CreateSelect(condition, builder.CreateOr(builder.get(set), bit(builder, lane)), builder.get(set)), set);
  }
  /// `variable` becomes the lane's pc if that is lower.
  void lower_to_pc(FlowBuilder& builder, const Round& round, llvm::AllocaInst* variable, llvm::Value* lane) {
    llvm::Value* known = builder.get(variable);
    llvm::Value* pc = pc_of(builder, round, lane);
    builder.CreateStore(builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, pc, known), variable);
  }
  llvm::Value* is_mixed(FlowBuilder& builder, llvm::Value* state) {
    return builder.CreateICmpEQ(state, builder.getInt32(kMixed));
  }

  /// The lanes that a mixed simdgroup still has.
  void find_live(FlowBuilder& builder, const Round& round, llvm::Value* waits_at) {
    builder.if_then(is_mixed(builder, waits_at), [&] {
      llvm::AllocaInst* all = builder.variable(i32_, "all", round.full);
      builder.CreateStore(builder.getInt32(0), round.todo);
      each_lane_of(builder, round, all, [&](llvm::Value* lane) {
        add_lane(builder, round.todo, lane,
                 builder.CreateICmpNE(pc_of(builder, round, lane), builder.getInt32(kEnded)));
      });
    });
  }

  /// The lowest site at which lanes wait, and who is there.
  void pick_site(FlowBuilder& builder, const Round& round) {
    builder.CreateStore(builder.get(round.todo), round.mask);
    builder.if_then(is_mixed(builder, builder.get(round.site)), [&] {
      builder.CreateStore(builder.getInt32(~0u), round.site);
      each_lane_of(builder, round, round.todo,
                   [&](llvm::Value* lane) { lower_to_pc(builder, round, round.site, lane); });
      builder.CreateStore(builder.getInt32(0), round.mask);
      each_lane_of(builder, round, round.todo, [&](llvm::Value* lane) {
        add_lane(builder, round.mask, lane, builder.CreateICmpEQ(pc_of(builder, round, lane), builder.get(round.site)));
      });
    });
  }

  /// From the site to the next: all lanes at once, or those of the mask one by one.
  void advance(FlowBuilder& builder, const Frame& frame, const Round& round) {
    call(builder, frame, collectives_, {builder.get(round.site), round.first, builder.get(round.mask)});
    llvm::Value* together = builder.CreateICmpEQ(builder.get(round.mask), round.full);
    const auto step = [&](llvm::Value* thread, llvm::Value* lanes) {
      return call(builder, frame, step_,
                  {frame.number(0), frame.number(1), frame.number(2), builder.get(round.site), thread, lanes});
    };
    llvm::AllocaInst* next = builder.variable(i32_, "next", builder.getInt32(kMixed));
    builder.if_else(
        together, [&] { builder.CreateStore(step(round.first, round.count), next); },
        [&] {
          each_lane_of(builder, round, round.mask,
                       [&](llvm::Value* lane) { step(builder.CreateAdd(round.first, lane), builder.getInt32(1)); });
        });
    builder.CreateStore(builder.get(next), round.site);
    builder.if_else(
        builder.CreateICmpNE(builder.get(next), builder.getInt32(kMixed)),
        [&] {
          llvm::Value* rest = rests(builder, builder.get(next));
          builder.CreateStore(builder.CreateSelect(rest, builder.getInt32(0), round.full), round.todo);
        },
        [&] {
          each_lane_of(builder, round, round.mask, [&](llvm::Value* lane) {
            llvm::Value* without = builder.CreateAnd(builder.get(round.todo), builder.CreateNot(bit(builder, lane)));
            builder.CreateStore(
                builder.CreateSelect(rests(builder, pc_of(builder, round, lane)), without, builder.get(round.todo)),
                round.todo);
          });
        });
  }

  /// Lanes that were already over when the round began keep their kEnded in pc; so do those that ended in it.
  void find_ended(FlowBuilder& builder, const Round& round) {
    builder.if_then(is_mixed(builder, builder.get(round.site)), [&] {
      llvm::AllocaInst* all = builder.variable(i32_, "all", round.full);
      llvm::AllocaInst* lowest = builder.variable(i32_, "lowest", builder.getInt32(kEnded));
      each_lane_of(builder, round, all, [&](llvm::Value* lane) { lower_to_pc(builder, round, lowest, lane); });
      llvm::Value* over = builder.CreateICmpEQ(builder.get(lowest), builder.getInt32(kEnded));
      builder.CreateStore(builder.CreateSelect(over, builder.getInt32(kEnded), builder.getInt32(kMixed)), round.site);
    });
  }

  /// One round of one simdgroup. Gives its new state.
  llvm::Value* run_simdgroup(FlowBuilder& builder, const Frame& frame, llvm::Value* simdgroup, llvm::Value* threads,
                             llvm::Value* waits_at) {
    Round round{};
    round.first = builder.CreateMul(simdgroup, builder.getInt32(kSimdWidth));
    round.count = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, builder.CreateSub(threads, round.first),
                                                builder.getInt32(kSimdWidth));
    round.full =
        builder.CreateLShr(builder.getInt32(~0u), builder.CreateSub(builder.getInt32(kSimdWidth), round.count));
    round.pc = word(builder, frame, pc_place_, round.first);
    round.site = builder.variable(i32_, "site", waits_at);
    round.todo = builder.variable(i32_, "todo", round.full);
    round.mask = builder.variable(i32_, "mask", round.full);
    find_live(builder, round, waits_at);
    builder.repeat_while([&] {
      pick_site(builder, round);
      advance(builder, frame, round);
      return builder.CreateIsNotNull(builder.get(round.todo));
    });
    find_ended(builder, round);
    return builder.get(round.site);
  }

  const LaunchContext& context_;
  llvm::LLVMContext& ir_;
  const WorkItem& item_;
  ContextLayout layout_;
  llvm::Type* i32_;
  std::vector<MeetingPoint> sites_;
  std::vector<Exchange> exchanges_;
  Regions regions_;
  uint64_t pc_place_ = 0;
  uint64_t state_place_ = 0;
  std::map<unsigned, Frame> runs_;
  llvm::Function* step_ = nullptr;
  llvm::Function* collectives_ = nullptr;
};

}  // namespace

Result<LaunchedKernel> emit_simdgroup_loop(const LaunchContext& context, const WorkItem& item) {
  return SimdgroupLoop(context, item).emit_loops();
}

}  // namespace smelt::aot::cpu
