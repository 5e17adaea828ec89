// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vectorise_lanes(): from the function of one thread to functions of a gang, one pair per layout. What the passes do
// and in which order is docs/design/cpu-lanes.md 3; where we left the prototype behind it, docs say so.
#include "interface/limits.hpp"
#include "lanes/emit.hpp"
#include "lanes/functions.hpp"
#include "lanes/legal.hpp"
#include "lanes/matrix_memory.hpp"
#include "lanes/prepare.hpp"
#include "lanes/specialise.hpp"
#include "lanes/structure.hpp"
#include "work_item/lane_functions.hpp"
#include "work_item/work_item.hpp"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace smelt::aot::cpu {
namespace {

using lanes::Shape;

const char* name_of(LaneLayout layout) {
  switch (layout) {
    case LaneLayout::row32:
      return "row32";
    case LaneLayout::row16:
      return "row16";
    case LaneLayout::linear32:
      return "linear32";
  }
  return "";
}

bool is_builtin(const WorkParameter& parameter, Builtin builtin, unsigned component) {
  return parameter.kind == WorkParameter::Kind::builtin && parameter.builtin == builtin &&
         parameter.component == component;
}

/// What the layout says about a hardware value. Positions in a grid cannot wrap round: the grid has at most 2^32
/// threads a side.
Shape shape_of(const WorkParameter& parameter, const WorkItem& scalar, LaneLayout layout) {
  if (parameter.kind != WorkParameter::Kind::builtin) return Shape::uniform();
  const bool rows = layout != LaneLayout::linear32;
  // Gangs begin at multiples of their width: in a row, or in the whole group.
  const unsigned width = layout == LaneLayout::row16 ? 4 : 5;
  switch (parameter.builtin) {
    case Builtin::thread_position_in_grid:
      if (!rows) return Shape::varying();
      return parameter.component == 0 ? Shape::linear(1, 0xffffffff) : Shape::uniform();
    case Builtin::thread_position_in_threadgroup:
      if (!rows) return Shape::varying();
      return parameter.component == 0 ? Shape::linear(1, air::kMostThreads - 1, width) : Shape::uniform();
    case Builtin::thread_index_in_threadgroup:
      return Shape::linear(1, air::kMostThreads - 1, rows && !scalar.has_collectives ? 0 : width);
    case Builtin::thread_index_in_simdgroup:
      return Shape::linear(1, kSimdWidth - 1, 63);
    default:
      return Shape::uniform();
  }
}

bool has_loops(llvm::Function& function) {
  const llvm::DominatorTree dominators(function);
  return !llvm::LoopInfo(dominators).empty();
}

class Vectoriser {
 public:
  Vectoriser(llvm::Module& module, const WorkItem& scalar, const LaneOptions& options)
      : module_(module), scalar_(scalar), options_(options) {}

  Result<GangVariant> vectorise(LaneLayout layout);
  void forget() {
    for (llvm::Function* function : made_) function->eraseFromParent();
    functions_.forget();
  }

 private:
  Result<llvm::Function*> prepare(LaneLayout layout, llvm::ArrayRef<Shape> shapes);
  enum class Gang : uint8_t { full, partial, either };
  Result<WorkItem> emit(llvm::Function& source, llvm::ArrayRef<Shape> shapes, LaneLayout layout, Gang kind);
  void declare(WorkItem& gang, const std::string& name);
  void bind_rows(lanes::GangEmitter& emitter, llvm::Function& source, const WorkItem& gang);
  void bind_linear(lanes::GangEmitter& emitter, llvm::Function& source, const WorkItem& gang);
  static llvm::Value* find(const WorkItem& gang, Builtin builtin, unsigned component);

  llvm::Module& module_;
  const WorkItem& scalar_;
  const LaneOptions& options_;
  std::vector<llvm::Function*> made_;
  lanes::LaneFunctions functions_;
};

// The thread's function, copied and brought into a form that masks can follow.
Result<llvm::Function*> Vectoriser::prepare(LaneLayout layout, llvm::ArrayRef<Shape> shapes) {
  llvm::ValueToValueMapTy map;
  llvm::Function* copy = llvm::CloneFunction(scalar_.function, map);
  made_.push_back(copy);
  copy->setLinkage(llvm::GlobalValue::InternalLinkage);
  lanes::expand_memory_intrinsics(*copy);
  lanes::split_matrices(*copy);
  lanes::interleave_private_memory(*copy, lane_count(layout));
  SMELT_TRY_VOID(lanes::normalise(*copy));
  SMELT_TRY_VOID(lanes::structurise(*copy, shapes, lane_count(layout)));
  return copy;
}

void Vectoriser::declare(WorkItem& gang, const std::string& name) {
  llvm::SmallVector<llvm::Type*, 16> types;
  for (const llvm::Argument& argument : scalar_.function->args()) types.push_back(argument.getType());
  types.resize(gang.parameters.size(), llvm::Type::getInt32Ty(module_.getContext()));
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(module_.getContext()), types, false);
  gang.function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module_);
  made_.push_back(gang.function);
  gang.function->setAttributes(scalar_.function->getAttributes());
  for (unsigned i = 0; i < scalar_.function->arg_size(); ++i) {
    gang.function->getArg(i)->setName(scalar_.function->getArg(i)->getName());
  }
}

llvm::Value* Vectoriser::find(const WorkItem& gang, Builtin builtin, unsigned component) {
  for (unsigned i = 0; i < gang.parameters.size(); ++i) {
    if (is_builtin(gang.parameters[i], builtin, component)) return gang.function->getArg(i);
  }
  return nullptr;
}

void Vectoriser::bind_rows(lanes::GangEmitter& emitter, llvm::Function& source, const WorkItem& gang) {
  for (unsigned i = 0; i < source.arg_size(); ++i) {
    llvm::Value* value = gang.function->getArg(i);
    if (is_builtin(gang.parameters[i], Builtin::thread_index_in_simdgroup, 0)) value = emitter.builder().getInt32(0);
    emitter.set_scalar(source.getArg(i), value);
  }
}

// Positions from the index in the group. Quotients of numbers up to 1024 are exact in single precision.
void Vectoriser::bind_linear(lanes::GangEmitter& emitter, llvm::Function& source, const WorkItem& gang) {
  llvm::IRBuilder<>& builder = emitter.builder();
  bind_rows(emitter, source, gang);
  auto* type = llvm::FixedVectorType::get(builder.getInt32Ty(), kSimdWidth);
  auto* real = llvm::FixedVectorType::get(builder.getFloatTy(), kSimdWidth);
  const auto splat = [&](llvm::Value* value) { return builder.CreateVectorSplat(kSimdWidth, value); };
  const auto divide = [&](llvm::Value* value, llvm::Value* by) {
    llvm::Value* quotient = builder.CreateFDiv(builder.CreateUIToFP(value, real), builder.CreateUIToFP(by, real));
    return builder.CreateFPToUI(quotient, type);
  };
  llvm::Value* first = find(gang, Builtin::thread_index_in_threadgroup, 0);
  llvm::Value* index = builder.CreateAdd(splat(first), emitter.step_vector(builder.getInt32Ty(), 1));
  llvm::Value* width = splat(find(gang, Builtin::threads_per_threadgroup, 0));
  llvm::Value* height = splat(find(gang, Builtin::threads_per_threadgroup, 1));
  llvm::Value* row = divide(index, width);
  llvm::Value* plane = divide(row, height);
  llvm::Value* local[3] = {builder.CreateSub(index, builder.CreateMul(row, width)),
                           builder.CreateSub(row, builder.CreateMul(plane, height)), plane};
  for (unsigned i = 0; i < source.arg_size(); ++i) {
    const WorkParameter& parameter = gang.parameters[i];
    if (parameter.kind != WorkParameter::Kind::builtin) continue;
    llvm::Value* mine = local[parameter.component];
    if (parameter.builtin == Builtin::thread_position_in_threadgroup) {
      emitter.set_parts(source.getArg(i), {mine});
    } else if (parameter.builtin == Builtin::thread_position_in_grid) {
      llvm::Value* origin =
          builder.CreateSub(gang.function->getArg(i), builder.CreateExtractElement(mine, uint64_t{0}));
      emitter.set_parts(source.getArg(i), {builder.CreateAdd(splat(origin), mine)});
    }
  }
}

Result<WorkItem> Vectoriser::emit(llvm::Function& source, llvm::ArrayRef<Shape> shapes, LaneLayout layout, Gang kind) {
  const lanes::Analysis analysis(source, shapes, lane_count(layout));
  SMELT_TRY_VOID(lanes::check_supported(source, analysis, lane_count(layout)));
  for (llvm::Function& function : module_)
    if (is_lane_function(function)) SMELT_TRY_VOID(functions_.check(function));
  WorkItem gang = scalar_;
  gang.unit = Unit::gang;
  gang.layout = layout;
  const auto need = [&](Builtin builtin, uint8_t component) {
    for (const WorkParameter& parameter : gang.parameters) {
      if (is_builtin(parameter, builtin, component)) return;
    }
    WorkParameter parameter;
    parameter.builtin = builtin;
    parameter.component = component;
    gang.parameters.push_back(parameter);
  };
  if (layout == LaneLayout::linear32) {
    need(Builtin::threads_per_threadgroup, 0);
    need(Builtin::threads_per_threadgroup, 1);
    need(Builtin::thread_index_in_threadgroup, 0);
  }
  if (kind != Gang::full) {
    WorkParameter parameter;
    parameter.kind = WorkParameter::Kind::lanes_on;
    gang.parameters.push_back(parameter);
  }
  const char* name = kind == Gang::full ? "full" : kind == Gang::partial ? "partial" : "either";
  declare(gang, fmt::format("{}.{}.{}", scalar_.function->getName().str(), name_of(layout), name));

  lanes::EmitOptions emit_options;
  emit_options.lanes = lane_count(layout);
  emit_options.native_gather = options_.native_gather;
  emit_options.functions = &functions_;
  emit_options.inline_texels = options_.inline_texels;
  emit_options.calls = kind == Gang::either;                  // the kernel is a large one
  emit_options.narrow_masked_moves = options_.native_gather;  // both came with AVX-512
  if (options_.threadgroup_memory_has_room)
    for (unsigned i = 0; i < source.arg_size(); ++i)
      if (scalar_.parameters[i].kind == WorkParameter::Kind::threadgroup_memory)
        emit_options.threadgroup_memory = source.getArg(i);
  lanes::GangEmitter emitter(source, *gang.function, analysis, emit_options);
  if (layout == LaneLayout::linear32) {
    bind_linear(emitter, source, gang);
  } else {
    bind_rows(emitter, source, gang);
  }
  if (kind != Gang::full) {
    llvm::IRBuilder<>& builder = emitter.builder();
    llvm::Value* count = gang.function->getArg(gang.parameters.size() - 1);
    llvm::Value* on = builder.CreateVectorSplat(lane_count(layout), count);
    llvm::Value* whole =
        kind == Gang::either ? builder.CreateICmpEQ(count, builder.getInt32(lane_count(layout))) : nullptr;
    emitter.set_entry_mask(builder.CreateICmpULT(emitter.step_vector(builder.getInt32Ty(), 1), on), whole);
  }
  emitter.run();
  lanes::share_matrix_memory(*gang.function);
  if (options_.verify) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (llvm::verifyFunction(*gang.function, &stream)) {
      return fail(Errc::unsupported, "lanes: the {} form is not valid: {}", name_of(layout), text);
    }
  }
  return gang;
}

Result<GangVariant> Vectoriser::vectorise(LaneLayout layout) {
  llvm::SmallVector<Shape, 16> shapes;
  for (const WorkParameter& parameter : scalar_.parameters) shapes.push_back(shape_of(parameter, scalar_, layout));
  SMELT_TRY(llvm::Function* const source, prepare(layout, shapes));
  GangVariant variant;
  variant.layout = layout;
  const size_t length = source->getInstructionCount();
  const bool one =
      length >= options_.one_function_from || (length >= options_.one_straight_function_from && !has_loops(*source));
  if (!one) {
    SMELT_TRY(variant.partial, emit(*source, shapes, layout, Gang::partial));
  }
  // Only where all lanes exist can they all be on.
  if (lanes::specialise(*source, shapes, lane_count(layout), /*spread=*/!one)) {
    SMELT_TRY_VOID(lanes::structurise(*source, shapes, lane_count(layout)));
  }
  SMELT_TRY(variant.full, emit(*source, shapes, layout, one ? Gang::either : Gang::full));
  if (one) variant.partial = variant.full;
  std::erase(made_, source);
  source->eraseFromParent();
  return variant;
}

/// Layouts differ in the positions of threads: a kernel that only counts them needs one.
std::vector<LaneLayout> layouts_for(const WorkItem& scalar, bool one) {
  if (scalar.grid_only) return {LaneLayout::row32};
  bool has_positions = false;
  for (unsigned i = 0; i < scalar.parameters.size(); ++i) {
    const WorkParameter& parameter = scalar.parameters[i];
    if (parameter.kind != WorkParameter::Kind::builtin || scalar.function->getArg(i)->use_empty()) continue;
    has_positions |= parameter.builtin == Builtin::thread_position_in_grid ||
                     parameter.builtin == Builtin::thread_position_in_threadgroup;
  }
  if (!has_positions) return {LaneLayout::linear32};
  // What gangs keep while they wait has no room for gangs of a few threads, which narrow rows are.
  if (one) return {scalar.threads_are_alone() ? LaneLayout::row32 : LaneLayout::linear32};
  if (scalar.has_collectives) return {LaneLayout::row32, LaneLayout::linear32};
  return {LaneLayout::row32, LaneLayout::row16, LaneLayout::linear32};
}

}  // namespace

Result<std::vector<GangVariant>> vectorise_lanes(llvm::Module& module, const WorkItem& scalar,
                                                 const LaneOptions& options) {
  Vectoriser vectoriser(module, scalar, options);
  std::vector<GangVariant> variants;
  for (LaneLayout layout : layouts_for(scalar, options.one_layout)) {
    Result<GangVariant> variant = vectoriser.vectorise(layout);
    if (!variant) {
      vectoriser.forget();
      return tl::unexpected(std::move(variant).error());
    }
    variants.push_back(std::move(*variant));
  }
  return variants;
}

}  // namespace smelt::aot::cpu
