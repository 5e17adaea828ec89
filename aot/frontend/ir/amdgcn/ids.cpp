// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places in the grid and lane numbers (docs/formats/triton-amdgcn.md 3), and the sizes of the launch, which AMD's code
// reads from hidden arguments or from the packet of the dispatch.
#include "ir/amdgcn/convergence.hpp"
#include "ir/amdgcn/site.hpp"
#include "kernel_ir/builtins.hpp"

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"

namespace smelt::aot::input::amdgcn {
namespace {

template <char component>
Result<llvm::Value*> workgroup(Site& site) {
  return site.hardware("threadgroup_position_in_grid", component, site.type());
}

/// The bare position, never AMD's packed register. Waves are 32 consecutive threads either way.
template <char component>
Result<llvm::Value*> workitem(Site& site) {
  if (site.facts().one_dimension) return site.hardware("thread_index_in_threadgroup", 0, site.type());
  return site.hardware("thread_position_in_threadgroup", component, site.type());
}

/// mbcnt.lo(mask, base): base + the number of bits of the mask below the own lane.
Result<llvm::Value*> count_below(Site& site) {
  llvm::IRBuilder<>& ir = site.ir();
  if (const auto mask = site.constant(0); mask && *mask == 0xffffffff)
    return ir.CreateAdd(site.lane_id(), site.argument(1));
  llvm::Value* below = ir.CreateSub(ir.CreateShl(ir.getInt32(1), site.lane_id()), ir.getInt32(1));
  llvm::Value* bits = ir.CreateAnd(site.argument(0), below);
  return ir.CreateAdd(ir.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits), site.argument(1));
}

constexpr Row kIdRows[] = {
    {"workgroup.id.x", workgroup<'x'>},
    {"workgroup.id.y", workgroup<'y'>},
    {"workgroup.id.z", workgroup<'z'>},
    {"workitem.id.x", workitem<'x'>},
    {"workitem.id.y", workitem<'y'>},
    {"workitem.id.z", workitem<'z'>},
    {"mbcnt.lo", count_below},
    // The upper half of a wave of 64 lanes: nothing of it lies below a lane here.
    {"mbcnt.hi", [](Site& site) -> Result<llvm::Value*> { return site.argument(1); }},
    {"wavefrontsize", [](Site& site) -> Result<llvm::Value*> { return llvm::ConstantInt::get(site.type(), 32); }},
};

/// What lies where behind implicitarg.ptr (code object version 5) and dispatch.ptr.
struct HiddenField {
  std::string_view source;
  uint64_t offset;
  unsigned bits;
  std::string_view attribute;  ///< empty: the constant 0
  char component;
};
constexpr HiddenField kHiddenFields[] = {
    {"implicitarg.ptr", 0, 32, "threadgroups_per_grid", 'x'},
    {"implicitarg.ptr", 4, 32, "threadgroups_per_grid", 'y'},
    {"implicitarg.ptr", 8, 32, "threadgroups_per_grid", 'z'},
    {"implicitarg.ptr", 12, 16, "threads_per_threadgroup", 'x'},
    {"implicitarg.ptr", 14, 16, "threads_per_threadgroup", 'y'},
    {"implicitarg.ptr", 16, 16, "threads_per_threadgroup", 'z'},
    {"implicitarg.ptr", 18, 16, "", 0},  // the last, smaller group: groups are whole here
    {"implicitarg.ptr", 20, 16, "", 0},
    {"implicitarg.ptr", 22, 16, "", 0},
    {"dispatch.ptr", 4, 16, "threads_per_threadgroup", 'x'},
    {"dispatch.ptr", 6, 16, "threads_per_threadgroup", 'y'},
    {"dispatch.ptr", 8, 16, "threads_per_threadgroup", 'z'},
    {"dispatch.ptr", 12, 32, "threads_per_grid", 'x'},
    {"dispatch.ptr", 16, 32, "threads_per_grid", 'y'},
    {"dispatch.ptr", 20, 32, "threads_per_grid", 'z'},
};

/// Of implicitarg.ptr: what the device library prints to.
constexpr uint64_t kHostQueue = 80;

llvm::Value* hardware_value(llvm::IRBuilder<>& ir, const HiddenField& field, llvm::Type* type) {
  if (field.attribute.empty()) return llvm::ConstantInt::get(type, 0);
  return ir.CreateZExtOrTrunc(kernel_ir::call_builtin(ir, field.attribute, field.component), type);
}

}  // namespace

std::span<const Row> id_rows() {
  return kIdRows;
}

Result<void> lower_hidden_arguments(llvm::Module& module, const Origin& origin) {
  const llvm::DataLayout& layout = module.getDataLayout();
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (!load) continue;
      llvm::Value* const pointer = load->getPointerOperand();
      llvm::APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
      const auto* base =
          llvm::dyn_cast<llvm::CallInst>(pointer->stripAndAccumulateConstantOffsets(layout, offset, true));
      const llvm::StringRef source = base ? amd_name(*base) : llvm::StringRef();
      if (source != "implicitarg.ptr" && source != "dispatch.ptr") continue;
      const HiddenField* found = nullptr;
      for (const HiddenField& field : kHiddenFields)
        if (source == llvm::StringRef(field.source) && offset == field.offset &&
            load->getType()->isIntegerTy(field.bits))
          found = &field;
      if (!found)
        return fail(Errc::unsupported,
                    "{}'llvm.amdgcn.{}': the value that the kernel reads at byte {} has no counterpart in Metal{}",
                    origin.line_of(fmt::format("llvm.amdgcn.{}", std::string(source))), std::string(source),
                    offset.getSExtValue(),
                    offset == kHostQueue ? " (a queue to the host: device_print works only where AMD's library ockl is "
                                           "not linked into the module)"
                                         : "");
      llvm::IRBuilder<> ir(load);
      load->replaceAllUsesWith(hardware_value(ir, *found, load->getType()));
      load->eraseFromParent();
      llvm::RecursivelyDeleteTriviallyDeadInstructions(pointer);
    }
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
          call && call->use_empty() && (amd_name(*call) == "implicitarg.ptr" || amd_name(*call) == "dispatch.ptr"))
        call->eraseFromParent();
  }
  return {};
}

}  // namespace smelt::aot::input::amdgcn
