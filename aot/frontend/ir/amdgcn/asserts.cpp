// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tl.device_assert as Triton writes it for AMD's GPUs: on the failing side a message goes to the host through a queue
// (__ockl_fprintf_stderr_begin and what appends to it), then a barrier, then a trap. Metal has neither; here the
// failing thread leaves the number of the source line in memory behind the kernel's first hidden pointer and ends. Who
// launches binds zeroed memory there and reads it back (reports.hpp).
#include "ir/amdgcn/convergence.hpp"
#include "ir/amdgcn/reports.hpp"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <algorithm>

namespace smelt::aot::input::amdgcn {
namespace {

constexpr llvm::StringRef kBegin = "__ockl_fprintf_stderr_begin";
constexpr llvm::StringRef kAppend = "__ockl_printf_append_";
/// Of a failing thread whose line is not known.
constexpr unsigned kNoLine = 0xffffffff;

/// What lies between the beginning of a message and its trap, in one block; empty when no trap follows.
std::vector<llvm::Instruction*> up_to_trap(llvm::Instruction& begin) {
  std::vector<llvm::Instruction*> found;
  for (llvm::Instruction* at = &begin; at; at = at->getNextNode()) {
    found.push_back(at);
    const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(at);
    if (intrinsic && intrinsic->getIntrinsicID() == llvm::Intrinsic::trap) return found;
  }
  return {};
}

/// Calls that write the message, and the barrier and fences that only wait for it.
bool goes(const llvm::Instruction& instruction) {
  const llvm::StringRef name = callee_of(instruction);
  return name.starts_with(kBegin) || name.starts_with(kAppend) || llvm::isa<llvm::FenceInst>(instruction) ||
         is_barrier(instruction);
}

}  // namespace

std::vector<llvm::Instruction*> asserts_of(llvm::Function& function) {
  std::vector<llvm::Instruction*> found;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (callee_of(instruction).starts_with(kBegin)) found.push_back(&instruction);
  return found;
}

Result<void> lower_assert(llvm::Instruction& begin, llvm::Argument& report, const Origin& origin) {
  const std::vector<llvm::Instruction*> side = up_to_trap(begin);
  if (side.empty())
    return fail(Errc::unsupported,
                "{}'{}': a message without a trap after it; only those of device_assert are supported",
                origin.line_of(kBegin.str()), kBegin.str());
  llvm::Instruction* const trap = side.back();
  const llvm::DebugLoc& where = trap->getDebugLoc();
  const unsigned line = where && where.getLine() != 0 ? where.getLine() : kNoLine;
  llvm::IRBuilder<> ir(trap);
  const auto agent = report.getContext().getOrInsertSyncScopeID("agent");
  ir.CreateAtomicRMW(llvm::AtomicRMWInst::UMax, &report, ir.getInt32(line), llvm::MaybeAlign(4),
                     llvm::AtomicOrdering::Monotonic, agent);
  for (llvm::Instruction* one : llvm::reverse(side)) {
    if (!goes(*one)) continue;
    if (!one->use_empty()) one->replaceAllUsesWith(llvm::Constant::getNullValue(one->getType()));
    one->eraseFromParent();
  }
  return {};
}

}  // namespace smelt::aot::input::amdgcn
