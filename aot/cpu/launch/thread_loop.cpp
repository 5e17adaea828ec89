// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels with threadgroups, one thread after another. Two ways:
//
//   in step   Threads cannot disagree about the next barrier. Each region is three nested loops over the group's
//             threads, the innermost for LLVM's vectoriser; the last thread's answer says where all of them wait.
//             Values that all threads share are passed on once for the group. Where threads are watched, one loop over
//             SIMD groups in the loader's order is around one over their threads.
//   by lanes  Lanes exchange values, or may reach different barriers. simdgroup_loop.cpp.
#include "launch/frame.hpp"
#include "launch/matrices.hpp"
#include "launch/simdgroup_loop.hpp"
#include "lower/lower.hpp"
#include "regions/uniformity.hpp"
#include "work_item/watch.hpp"
#include "work_item/watch_calls.hpp"

namespace smelt::aot::cpu {
namespace {

class InStep {
 public:
  InStep(const LaunchContext& context, const WorkItem& item, std::vector<MeetingPoint> sites)
      : context_(context),
        ir_(context.module.getContext()),
        item_(item),
        sites_(std::move(sites)),
        layout_(Unit::thread) {}

  LaunchedKernel emit_loops(const Uniformity& uniformity) {
    for (const MeetingPoint& site : sites_)
      if (const llvm::MDNode* meeting = site.call->getMetadata(kMeetMetadata)) meetings_[site.number] = meeting;
    split_at_sites(sites_);
    LiveState state = keep_live_values(*item_.function, sites_, &uniformity);
    compute_liveness(*item_.function, sites_, state);
    regions_ = make_regions(item_, sites_, state, layout_, "smelt.region", false);

    const auto uniforms_offset = static_cast<uint32_t>(llvm::alignTo(context_.threadgroup_bytes, 64));
    const llvm::DataLayout& data_layout = context_.module.getDataLayout();
    uint64_t uniform_bytes = 0;
    for (llvm::Type* type : regions_.uniform_types) {
      uniform_bytes = llvm::alignTo(uniform_bytes, data_layout.getABITypeAlign(type));
      uniform_offsets_.push_back(uniform_bytes);
      uniform_bytes += data_layout.getTypeAllocSize(type);
    }
    const auto context_offset = static_cast<uint32_t>(llvm::alignTo(uniforms_offset + uniform_bytes, 64));

    std::map<unsigned, llvm::Function*> runs;
    for (const auto& [number, body] : regions_.bodies) runs[number] = make_run(number, body);
    const Frame group = make_group_in_step(context_, item_, "smelt.group", runs);
    make_entry(context_, item_, group, schema::CpuRangeKind::groups, uniforms_offset, context_offset);
    return LaunchedKernel{schema::CpuRangeKind::groups, context_offset, static_cast<uint32_t>(layout_.bytes()),
                          sites_.empty() ? "loop" : "regions"};
  }

 private:
  llvm::Value* uniform_address(llvm::IRBuilderBase& builder, const Frame& frame, size_t i) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), frame.uniforms(), uniform_offsets_[i]);
  }

  /// Runs one region for every thread of the group at numbers 0..2; gives the site where they wait. (3: the region.)
  llvm::Function* make_run(unsigned number, llvm::Function* body) {
    const Frame frame(context_, item_, llvm::Type::getInt32Ty(ir_), 4, "smelt.run." + std::to_string(number));
    FlowBuilder builder(frame.entry());
    BuiltinValues builtins;
    llvm::Value* threads =
        load_group_builtins(builder, frame.dispatch(), {frame.number(0), frame.number(1), frame.number(2)}, builtins);
    llvm::Value* capacity = load_capacity(builder, frame.dispatch());
    llvm::SmallVector<llvm::Value*> uniforms;
    for (size_t i = 0; i < regions_.uniform_types.size(); ++i) {
      llvm::Type* type = regions_.uniform_types[i];
      const auto live = regions_.uniform_live.find(number);
      if (live != regions_.uniform_live.end() && live->second[i])
        uniforms.push_back(builder.CreateLoad(type, uniform_address(builder, frame, i)));
      else
        uniforms.push_back(llvm::PoisonValue::get(type));
    }
    const auto size = [&](unsigned i) { return builtins.get(Builtin::threads_per_threadgroup, i); };
    llvm::Value* answer = nullptr;
    const auto run_thread = [&](const std::array<llvm::Value*, 3>& place, llvm::Value* index) {
      set_thread_builtins(builder, place, index, builtins);
      auto operands = frame.work_item_operands(builder, item_, builtins, nullptr);
      operands.append(
          {frame.context(), builder.CreateZExt(index, builder.getInt64Ty()), capacity, builder.getInt32(number)});
      operands.append(uniforms);
      answer = builder.CreateCall(body, operands);
    };
    if (context_.checked.has(Check::races)) {
      run_in_order(builder, frame, number, builtins, threads, body->getReturnType(), run_thread, answer);
    } else {
      builder.loop_at_least_once(builder.getInt32(0), size(2), nullptr, [&](llvm::Value* z) {
        builder.loop_at_least_once(builder.getInt32(0), size(1), nullptr, [&](llvm::Value* y) {
          llvm::Value* row = builder.CreateMul(builder.CreateAdd(builder.CreateMul(z, size(1), "", true), y, "", true),
                                               size(0), "", true);
          builder.loop_at_least_once(
              builder.getInt32(0), size(0), unit_loop_properties(ir_, regions_.access_group),
              [&](llvm::Value* x) { run_thread({x, y, z}, builder.CreateAdd(row, x, "", true)); });
        });
      });
    }
    for (size_t i = 0; i < regions_.uniform_types.size(); ++i)
      builder.CreateStore(builder.CreateExtractValue(answer, static_cast<unsigned>(i) + 1),
                          uniform_address(builder, frame, i));
    builder.CreateRet(builder.CreateExtractValue(answer, 0));
    return frame.function();
  }

  /// The loader is told of the barrier that all come from, and says which SIMD group runs next.
  template <class RunThread>
  void run_in_order(FlowBuilder& builder, const Frame& frame, unsigned number, const BuiltinValues& builtins,
                    llvm::Value* threads, llvm::Type* answers, const RunThread& run_thread, llvm::Value*& answer) {
    llvm::Type* i32 = builder.getInt32Ty();
    if (const auto meeting = meetings_.find(number); meeting != meetings_.end())
      call_meet(builder, context_.module, frame.dispatch(), builder.getInt32(SMELT_CPU_MEET_ALL), builder.getInt32(0),
                *meeting->second);
    const std::array<llvm::Value*, 2> size{builtins.get(Builtin::threads_per_threadgroup, 0),
                                           builtins.get(Builtin::threads_per_threadgroup, 1)};
    llvm::AllocaInst* last = builder.variable(answers, "answer");
    llvm::Value* simdgroups = builtins.get(Builtin::simdgroups_per_threadgroup);
    const auto all = [&](bool one_row) {
      builder.loop(builder.getInt32(0), simdgroups, 1, [&](llvm::Value* index) {
        llvm::Value* simdgroup =
            call_watch(builder, frame.dispatch(), offsetof(smelt_cpu_watch, simdgroup), i32, {index, simdgroups});
        llvm::Value* first = builder.CreateMul(simdgroup, builder.getInt32(kSimdWidth));
        llvm::Value* count = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, builder.CreateSub(threads, first),
                                                           builder.getInt32(kSimdWidth));
        loop_over_threads(builder, first, count, size, one_row, unit_loop_properties(ir_, regions_.access_group),
                          [&](const std::array<llvm::Value*, 3>& place, llvm::Value* thread) {
                            run_thread(place, thread);
                            builder.CreateStore(answer, last);
                          });
      });
    };
    builder.if_else(builder.CreateICmpEQ(size[0], threads), [&] { all(true); }, [&] { all(false); });
    answer = builder.get(last);
  }

  const LaunchContext& context_;
  llvm::LLVMContext& ir_;
  const WorkItem& item_;
  std::vector<MeetingPoint> sites_;
  std::map<unsigned, const llvm::MDNode*> meetings_;  ///< kMeetMetadata by number of the site
  ContextLayout layout_;
  Regions regions_;
  std::vector<uint64_t> uniform_offsets_;
};

bool has_lane_sites(const std::vector<MeetingPoint>& sites) {
  return llvm::any_of(sites, [](const MeetingPoint& site) { return site.kind == MeetingPoint::Kind::collective; });
}

}  // namespace

Result<LaunchedKernel> emit_thread_loop(const LaunchContext& context, const WorkItem& item) {
  plain_single_thread_atomics(*item.function);
  std::vector<MeetingPoint> sites = find_sites(item, false);
  const Uniformity uniformity(item);
  // Who does not come to a barrier is seen where each comes by itself.
  const bool by_simdgroups = context.checked.has(Check::sync);
  if (!by_simdgroups && !has_lane_sites(sites) && barriers_are_uniform(item, uniformity, false))
    return InStep(context, item, std::move(sites)).emit_loops(uniformity);
  SMELT_TRY_VOID(narrow_matrices(*item.function));
  return emit_simdgroup_loop(context, item);
}

}  // namespace smelt::aot::cpu
