// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers and fences (docs/formats/triton-amdgcn.md 4.3). AMD's barrier only waits; the fences at its sides give the
// order. AIR's barrier does both for the memories in its flags, so a barrier with its fences becomes one call, and a
// barrier without fences gets more order than it asked for, which is always right.
#include "ir/amdgcn/convergence.hpp"
#include "ir/amdgcn/site.hpp"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::input::amdgcn {
namespace {

constexpr unsigned kDeviceSpace = 1;

/// Only orders, and no further than the group.
bool is_group_fence(const llvm::FenceInst& fence) {
  llvm::SmallVector<llvm::StringRef> names;
  fence.getContext().getSyncScopeNames(names);
  const llvm::StringRef scope = fence.getSyncScopeID() < names.size() ? names[fence.getSyncScopeID()] : "";
  return scope.starts_with("workgroup") || scope.starts_with("wavefront") || scope.starts_with("singlethread");
}

bool is_harmless(const llvm::Instruction& instruction) {
  if (llvm::isa<llvm::FenceInst>(instruction)) return true;
  return !instruction.mayReadOrWriteMemory() && !instruction.isTerminator();
}

bool accompanies_barrier(const llvm::FenceInst& fence) {
  for (const llvm::Instruction* at = fence.getNextNode(); at; at = at->getNextNode()) {
    if (is_barrier(*at)) return true;
    if (!is_harmless(*at)) break;
  }
  for (const llvm::Instruction* at = fence.getPrevNode(); at; at = at->getPrevNode()) {
    if (is_barrier(*at)) return true;
    if (!is_harmless(*at)) break;
  }
  return false;
}

Result<llvm::Value*> barrier(Site& site) {
  site.barrier(/*simdgroup=*/false, site.facts().barriers_order_device ? 3 : 2);
  return nullptr;
}

/// The lanes of one wave meet; on AMD it only keeps the compiler from moving code across.
Result<llvm::Value*> wave_barrier(Site& site) {
  site.barrier(/*simdgroup=*/true, site.facts().barriers_order_device ? 3 : 2);
  return nullptr;
}

/// GFX12's barrier in two parts: who has signalled goes on until it waits. Waiting is where all meet here; the signal
/// promises nothing that the meeting does not.
Result<llvm::Value*> half_barrier(Site& site) {
  constexpr uint64_t kWholeGroup = 0xffff;
  const auto which = site.constant(0);
  if (!which || (*which & 0xffff) != kWholeGroup)
    return site.refuse("only the barrier of the whole group (-1) is supported");
  if (site.name() == "s.barrier.signal") return nullptr;
  return barrier(site);
}

/// Advice on the order of instructions, on priority and on time; without effect on results.
Result<llvm::Value*> nothing(Site&) {
  return nullptr;
}

/// Whether some operation rounds to half.
bool makes_halves(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    if (!instruction.getType()->getScalarType()->isHalfTy()) return false;
    if (const auto* sign = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
        sign &&
        (sign->getIntrinsicID() == llvm::Intrinsic::fabs || sign->getIntrinsicID() == llvm::Intrinsic::copysign))
      return false;
    return llvm::isa<llvm::FPTruncInst, llvm::UIToFPInst, llvm::SIToFPInst, llvm::BinaryOperator, llvm::CallInst>(
        instruction);
  });
}

/// The one register that matters to results: MODE bit 23 makes halves stop at their largest number. Triton sets it
/// round conversions to 8 bits, also where those are done in integers.
Result<llvm::Value*> set_register(Site& site) {
  constexpr uint64_t kHalfOverflow = 1 | 23 << 6;
  const auto which = site.constant(0);
  if (which != kHalfOverflow) return site.refuse("register {:#x} is not one that a kernel may set", which.value_or(0));
  if (makes_halves(*site.call().getFunction()))
    return site.refuse("halves that stop at their largest number have no counterpart in Metal");
  return nullptr;
}

constexpr Row kSyncRows[] = {
    {"s.barrier", barrier},
    {"wave.barrier", wave_barrier},
    {"sched.barrier", nothing},
    {"sched.group.barrier", nothing},
    {"iglp.opt", nothing},
    {"s.setprio", nothing},
    {"s.sleep", nothing},
    {"s.nop", nothing},
    {"s.waitcnt", nothing},
    {"s.setreg", set_register},
    {"s.barrier.signal", half_barrier},
    {"s.barrier.wait", half_barrier},
    {"s.wait.loadcnt", nothing},
    {"s.wait.storecnt", nothing},
    {"s.wait.samplecnt", nothing},
    {"s.wait.bvhcnt", nothing},
    {"s.wait.kmcnt", nothing},
    {"s.wait.dscnt", nothing},
    {"s.wait.expcnt", nothing},
};

}  // namespace

std::span<const Row> sync_rows() {
  return kSyncRows;
}

void drop_barrier_fences(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      if (auto* fence = llvm::dyn_cast<llvm::FenceInst>(&instruction);
          fence && is_group_fence(*fence) && accompanies_barrier(*fence))
        fence->eraseFromParent();
}

void drop_waits(llvm::Module& module) {
  const auto only_waits = [](const llvm::InlineAsm& code) {
    llvm::SmallVector<llvm::StringRef, 4> lines;
    const std::string text = code.getAsmString();
    llvm::SplitString(text, lines, "\n;");
    return llvm::all_of(lines, [](llvm::StringRef line) {
      line = line.trim();
      return line.empty() || line.starts_with("s_waitcnt") || line.starts_with("s_wait_") || line.starts_with("s_nop");
    });
  };
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const auto* code = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
      if (code && call->getType()->isVoidTy() && call->arg_size() == 0 && only_waits(*code)) call->eraseFromParent();
    }
}

bool barriers_order_device(const llvm::Function& kernel) {
  llvm::SmallPtrSet<const llvm::Value*, 8> loaded, stored;
  const auto object = [](const llvm::Value* pointer) {
    // A buffer resource's address is that of its base.
    for (;;) {
      pointer = llvm::getUnderlyingObject(pointer, 0);
      const auto* call = llvm::dyn_cast<llvm::CallInst>(pointer);
      if (!call || !amd_name(*call).starts_with("make.buffer.rsrc")) return pointer;
      pointer = call->getArgOperand(0);
    }
  };
  for (const llvm::Instruction& instruction : llvm::instructions(kernel)) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      if (load->getPointerAddressSpace() == kDeviceSpace) loaded.insert(object(load->getPointerOperand()));
    } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      if (store->getPointerAddressSpace() == kDeviceSpace) stored.insert(object(store->getPointerOperand()));
    } else if (const auto* rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      if (rmw->getPointerAddressSpace() == kDeviceSpace) stored.insert(object(rmw->getPointerOperand()));
    } else if (const auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      if (swap->getPointerAddressSpace() == kDeviceSpace) stored.insert(object(swap->getPointerOperand()));
    } else if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      const llvm::StringRef operation = amd_name(*call);
      if (operation.starts_with("raw.ptr.buffer.load")) loaded.insert(object(call->getArgOperand(0)));
      if (operation.starts_with("raw.ptr.buffer.store")) stored.insert(object(call->getArgOperand(1)));
    }
  }
  const auto is_known = [](const llvm::Value* value) { return llvm::isa<llvm::Argument>(value); };
  if (loaded.empty() || stored.empty()) return false;
  return llvm::any_of(stored, [&](const llvm::Value* value) { return !is_known(value) || loaded.contains(value); }) ||
         !llvm::all_of(loaded, is_known);
}

}  // namespace smelt::aot::input::amdgcn
