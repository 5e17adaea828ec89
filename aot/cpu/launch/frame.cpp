// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch/frame.hpp"

#include "abi/dispatch_block.hpp"

namespace smelt::aot::cpu {
namespace {

bool is_bound(const WorkParameter& parameter) {
  return parameter.kind == WorkParameter::Kind::bound;
}

}  // namespace

Frame::Frame(const LaunchContext& context, const WorkItem& item, llvm::Type* result, unsigned numbers,
             const std::string& name) {
  llvm::LLVMContext& ir = context.module.getContext();
  auto* pointer = llvm::PointerType::get(ir, 0);
  llvm::SmallVector<llvm::Type*> types{pointer, pointer, pointer, llvm::PointerType::get(ir, 3)};
  llvm::SmallVector<unsigned> no_alias{0, 1, 2, 3};
  for (size_t i = 0; i < item.parameters.size(); ++i) {
    const WorkParameter& parameter = item.parameters[i];
    bound_.push_back(is_bound(parameter) ? static_cast<int>(types.size()) : -1);
    if (!is_bound(parameter)) continue;
    // Different threadgroup arguments are different memory; buffers only where AIR says so.
    if (parameter.no_alias || parameter.is_bound(BindingClass::threadgroup))
      no_alias.push_back(static_cast<unsigned>(types.size()));
    types.push_back(item.function->getArg(static_cast<unsigned>(i))->getType());
  }
  first_number_ = static_cast<unsigned>(types.size());
  types.append(numbers, llvm::Type::getInt32Ty(ir));
  function_ = llvm::Function::Create(llvm::FunctionType::get(result, types, false), llvm::GlobalValue::InternalLinkage,
                                     name, context.module);
  set_function_attributes(*function_, context.target, context.level);
  function_->addFnAttr(llvm::Attribute::NoInline);
  for (const unsigned i : no_alias) function_->addParamAttr(i, llvm::Attribute::NoAlias);
  llvm::BasicBlock::Create(ir, "entry", function_);
}

llvm::SmallVector<llvm::Value*> Frame::values() const {
  llvm::SmallVector<llvm::Value*> result;
  for (unsigned i = 0; i < first_number_; ++i) result.push_back(function_->getArg(i));
  return result;
}

llvm::SmallVector<llvm::Value*> Frame::work_item_operands(llvm::IRBuilderBase& builder, const WorkItem& item,
                                                          const BuiltinValues& builtins, llvm::Value* lanes_on) const {
  llvm::SmallVector<llvm::Value*> operands;
  for (size_t i = 0; i < item.parameters.size(); ++i) {
    const WorkParameter& parameter = item.parameters[i];
    switch (parameter.kind) {
      case WorkParameter::Kind::bound:
        operands.push_back(function_->getArg(static_cast<unsigned>(bound_[i])));
        break;
      case WorkParameter::Kind::threadgroup_memory:
        operands.push_back(threadgroup());
        break;
      case WorkParameter::Kind::dispatch:
        operands.push_back(dispatch());
        break;
      case WorkParameter::Kind::lanes_on:
        operands.push_back(lanes_on);
        break;
      case WorkParameter::Kind::builtin: {
        // Kernels of kind `threads` have no group values; what they do not use may be anything.
        llvm::Value* value = builtins.get(parameter.builtin, parameter.component);
        operands.push_back(value != nullptr ? value : llvm::PoisonValue::get(builder.getInt32Ty()));
        break;
      }
    }
  }
  return operands;
}

namespace {

void load_triple(llvm::IRBuilderBase& builder, llvm::Value* dispatch, uint64_t offset, Builtin builtin,
                 BuiltinValues& values) {
  for (unsigned i = 0; i < 3; ++i)
    values.set(builtin, load_constant(builder, builder.getInt32Ty(), dispatch, offset + 4 * i), i);
}

llvm::Value* simdgroups_of(llvm::IRBuilderBase& builder, llvm::Value* threads) {
  return builder.CreateLShr(builder.CreateAdd(threads, builder.getInt32(31)), 5);
}

llvm::Value* product(llvm::IRBuilderBase& builder, const BuiltinValues& values, Builtin builtin) {
  return builder.CreateMul(builder.CreateMul(values.get(builtin, 0), values.get(builtin, 1)), values.get(builtin, 2));
}

}  // namespace

void load_grid_builtins(llvm::IRBuilderBase& builder, llvm::Value* dispatch, BuiltinValues& values) {
  load_triple(builder, dispatch, offsetof(smelt_cpu_dispatch, grid), Builtin::threads_per_grid, values);
  load_triple(builder, dispatch, offsetof(smelt_cpu_dispatch, group), Builtin::dispatch_threads_per_threadgroup,
              values);
  load_triple(builder, dispatch, offsetof(smelt_cpu_dispatch, groups), Builtin::threadgroups_per_grid, values);
  values.set(Builtin::dispatch_simdgroups_per_threadgroup,
             simdgroups_of(builder, product(builder, values, Builtin::dispatch_threads_per_threadgroup)));
}

llvm::Value* load_group_builtins(llvm::IRBuilderBase& builder, llvm::Value* dispatch,
                                 const std::array<llvm::Value*, 3>& position, BuiltinValues& values) {
  load_grid_builtins(builder, dispatch, values);
  for (unsigned i = 0; i < 3; ++i) {
    values.set(Builtin::threadgroup_position_in_grid, position[i], i);
    llvm::Value* nominal = values.get(Builtin::dispatch_threads_per_threadgroup, i);
    llvm::Value* left =
        builder.CreateSub(values.get(Builtin::threads_per_grid, i), builder.CreateMul(position[i], nominal));
    values.set(Builtin::threads_per_threadgroup, builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, nominal, left),
               i);
  }
  llvm::Value* threads = product(builder, values, Builtin::threads_per_threadgroup);
  values.set(Builtin::simdgroups_per_threadgroup, simdgroups_of(builder, threads));
  return threads;
}

void set_thread_builtins(llvm::IRBuilderBase& builder, const std::array<llvm::Value*, 3>& place, llvm::Value* index,
                         BuiltinValues& values) {
  for (unsigned i = 0; i < 3; ++i) {
    values.set(Builtin::thread_position_in_threadgroup, place[i], i);
    llvm::Value* origin = builder.CreateMul(values.get(Builtin::threadgroup_position_in_grid, i),
                                            values.get(Builtin::dispatch_threads_per_threadgroup, i));
    values.set(Builtin::thread_position_in_grid, builder.CreateAdd(origin, place[i], "", true), i);
  }
  values.set(Builtin::thread_index_in_threadgroup, index);
  values.set(Builtin::thread_index_in_simdgroup, builder.CreateAnd(index, 31));
  values.set(Builtin::simdgroup_index_in_threadgroup, builder.CreateLShr(index, 5));
}

llvm::Value* call_for_site(FlowBuilder& builder, llvm::Value* site,
                           const std::map<unsigned, llvm::Function*>& functions,
                           llvm::ArrayRef<llvm::Value*> operands) {
  llvm::BasicBlock* join = builder.block("join");
  llvm::BasicBlock* never = builder.block("never");
  new llvm::UnreachableInst(builder.getContext(), never);
  llvm::AllocaInst* next = builder.variable(builder.getInt32Ty(), "next");
  auto* choice = builder.CreateSwitch(site, never, static_cast<unsigned>(functions.size()));
  std::map<llvm::Function*, llvm::BasicBlock*> blocks;
  for (const auto& [number, function] : functions) {
    llvm::BasicBlock*& block = blocks[function];
    const bool known = block != nullptr;
    if (!known) block = builder.block("site" + std::to_string(number));
    choice->addCase(builder.getInt32(number), block);
    if (known) continue;
    builder.SetInsertPoint(block);
    builder.CreateStore(builder.CreateCall(function, operands), next);
    builder.CreateBr(join);
  }
  builder.SetInsertPoint(join);
  return builder.get(next);
}

Frame make_group_in_step(const LaunchContext& context, const WorkItem& item, const std::string& name,
                         const std::map<unsigned, llvm::Function*>& runs) {
  const Frame frame(context, item, llvm::Type::getVoidTy(context.module.getContext()), 3, name);
  FlowBuilder builder(frame.entry());
  llvm::AllocaInst* site = builder.variable(builder.getInt32Ty(), "site", builder.getInt32(0));
  auto operands = frame.values();
  for (unsigned i = 0; i < 3; ++i) operands.push_back(frame.number(i));
  operands.push_back(nullptr);
  builder.repeat_while([&] {
    operands.back() = builder.get(site);
    llvm::Value* next = call_for_site(builder, builder.get(site), runs, operands);
    builder.CreateStore(next, site);
    return builder.CreateICmpNE(next, builder.getInt32(kEnded));
  });
  builder.CreateRetVoid();
  return frame;
}

llvm::Value* load_capacity(llvm::IRBuilderBase& builder, llvm::Value* dispatch) {
  return builder.CreateZExt(SMELT_DISPATCH_FIELD(builder, builder.getInt32Ty(), dispatch, nominal_threads),
                            builder.getInt64Ty());
}

void make_entry(const LaunchContext& context, const WorkItem& item, const Frame& body, schema::CpuRangeKind kind,
                uint32_t uniforms_offset, uint32_t context_offset) {
  llvm::LLVMContext& ir = context.module.getContext();
  auto* pointer = llvm::PointerType::get(ir, 0);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(ir), {pointer, pointer, pointer}, false);
  auto* entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kEntryName, context.module);
  set_function_attributes(*entry, context.target, context.level);
  entry->setVisibility(llvm::GlobalValue::HiddenVisibility);
  FlowBuilder builder(llvm::BasicBlock::Create(ir, "entry", entry));
  llvm::Value* dispatch = entry->getArg(0);
  llvm::Value* range = entry->getArg(1);
  llvm::Value* scratch = entry->getArg(2);

  llvm::SmallVector<llvm::Value*> operands{
      dispatch, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), scratch, context_offset),
      builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), scratch, uniforms_offset),
      builder.CreateAddrSpaceCast(scratch, llvm::PointerType::get(ir, 3))};
  llvm::Value* buffers = SMELT_DISPATCH_FIELD(builder, pointer, dispatch, buffers);
  llvm::Value* threadgroup_offsets = nullptr;
  for (size_t i = 0; i < item.parameters.size(); ++i) {
    const WorkParameter& parameter = item.parameters[i];
    llvm::Type* bound_type = item.function->getArg(static_cast<unsigned>(i))->getType();
    if (parameter.kind != WorkParameter::Kind::bound) continue;
    switch (form_of(parameter.binding)) {
      case BindingForm::memory:
      case BindingForm::record:
        operands.push_back(load_constant(builder, bound_type, buffers, parameter.index * sizeof(void*)));
        break;
      case BindingForm::threadgroup: {
        if (threadgroup_offsets == nullptr)
          threadgroup_offsets = SMELT_DISPATCH_FIELD(builder, pointer, dispatch, threadgroup_offsets);
        llvm::Value* offset =
            load_constant(builder, builder.getInt32Ty(), threadgroup_offsets, parameter.index * sizeof(uint32_t));
        llvm::Value* address =
            builder.CreateGEP(builder.getInt8Ty(), scratch, builder.CreateZExt(offset, builder.getInt64Ty()));
        operands.push_back(builder.CreateAddrSpaceCast(address, bound_type));
        break;
      }
      case BindingForm::handle: {
        llvm::Value* const handles = parameter.binding == BindingClass::texture
                                         ? SMELT_DISPATCH_FIELD(builder, pointer, dispatch, textures)
                                         : SMELT_DISPATCH_FIELD(builder, pointer, dispatch, samplers);
        const uint64_t offset = parameter.index * sizeof(void*);
        operands.push_back(parameter.count != 0
                               ? builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), handles, offset)
                               : load_constant(builder, bound_type, handles, offset));
        break;
      }
    }
  }
  std::array<llvm::Value*, 3> low{};
  std::array<llvm::Value*, 3> high{};
  for (unsigned i = 0; i < 3; ++i) {
    low[i] = load_constant(builder, builder.getInt32Ty(), range, offsetof(smelt_cpu_range, low) + 4 * i);
    high[i] = load_constant(builder, builder.getInt32Ty(), range, offsetof(smelt_cpu_range, high) + 4 * i);
  }
  if (kind == schema::CpuRangeKind::threads) {
    operands.append(low.begin(), low.end());
    operands.append(high.begin(), high.end());
    builder.CreateCall(body.function(), operands);
  } else {
    builder.loop(low[2], high[2], 1, [&](llvm::Value* z) {
      builder.loop(low[1], high[1], 1, [&](llvm::Value* y) {
        builder.loop(low[0], high[0], 1, [&](llvm::Value* x) {
          llvm::SmallVector<llvm::Value*> with_position(operands);
          with_position.append({x, y, z});
          builder.CreateCall(body.function(), with_position);
        });
      });
    });
  }
  builder.CreateRetVoid();
}

}  // namespace smelt::aot::cpu
