// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVVM's intrinsics that have a plain counterpart: thread ids, barriers, warp shuffles of a whole warp. Warps have 32
// lanes, as SIMD-groups of every Apple GPU do.
#include "ir/builtin_calls.hpp"
#include "ir/dialect.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot::input {
namespace {

struct Register {
  std::string_view name, attribute;
};
constexpr Register kVectors[] = {
    {"tid", "thread_position_in_threadgroup"},
    // The same in every block, also in one that the edge of the grid trims: blockIdx * blockDim is its first thread.
    {"ntid", "dispatch_threads_per_threadgroup"},
    {"ctaid", "threadgroup_position_in_grid"},
    {"nctaid", "threadgroups_per_grid"},
};
constexpr Register kScalarRegisters[] = {
    {"laneid", "thread_index_in_simdgroup"},
    {"warpid", "simdgroup_index_in_threadgroup"},
    {"warpsize", "threads_per_simdgroup"},
    {"nwarpid", "simdgroups_per_threadgroup"},
};

bool lower_register(Replacement& to, llvm::StringRef name) {
  if (!name.consume_front("llvm.nvvm.read.ptx.sreg.")) return false;
  const auto [head, component] = name.split('.');
  for (const Register& row : kVectors)
    if (head == llvm::StringRef(row.name) && component.size() == 1 && llvm::StringRef("xyz").contains(component)) {
      to.finish(to.hardware(row.attribute, component[0], to.type()));
      return true;
    }
  for (const Register& row : kScalarRegisters)
    if (head == llvm::StringRef(row.name) && component.empty()) {
      to.finish(to.hardware(row.attribute, 0, to.type()));
      return true;
    }
  return false;
}

/// __syncthreads orders both memories inside the group; __syncwarp likewise.
bool lower_nvvm_barrier(Replacement& to, llvm::StringRef name) {
  const bool group = name == "llvm.nvvm.barrier0" || name == "llvm.nvvm.barrier.cta.sync.aligned.all" ||
                     name == "llvm.nvvm.barrier.cta.sync.all" || name == "llvm.nvvm.barrier.sync" ||
                     name == "llvm.nvvm.barrier.n";
  if (!group && name != "llvm.nvvm.bar.warp.sync") return false;
  if (group && to.call().arg_size() == 1) {  // a numbered barrier: only the first is the whole group's
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(to.argument(0));
    if (!number || !number->isZero()) return false;
  }
  to.barrier(!group, 3);
  to.finish(nullptr);
  return true;
}

/// shfl.sync.MODE.TYPE(mask, value, lane, clamp) over a whole warp.
bool lower_shuffle(Replacement& to, llvm::StringRef name) {
  if (!name.consume_front("llvm.nvvm.shfl.sync.")) return false;
  const auto [mode, type] = name.split('.');
  if (to.call().arg_size() != 4) return false;
  const auto* clamp = llvm::dyn_cast<llvm::ConstantInt>(to.argument(3));
  if (!clamp || (type != "i32" && type != "f32")) return false;
  if (clamp->getZExtValue() != (mode == "up" ? 0u : 31u)) return false;  // parts of a warp
  llvm::IRBuilder<>& ir = to.ir();
  llvm::Value* value = to.argument(1);
  llvm::Value* delta = to.argument(2);
  const std::string suffix = air_suffix(value->getType(), false, true);
  llvm::Value* self = to.hardware("thread_index_in_simdgroup", 0, ir.getInt32Ty());
  llvm::Value* source = nullptr;
  if (mode == "idx") source = ir.CreateAnd(delta, 31);
  if (mode == "bfly") source = ir.CreateXor(self, ir.CreateAnd(delta, 31));
  if (mode == "down") source = ir.CreateAdd(self, ir.CreateAnd(delta, 31));
  if (mode == "up") source = ir.CreateSub(self, ir.CreateAnd(delta, 31));
  if (!source) return false;
  // A lane whose source is outside the warp keeps its own value.
  llvm::Value* inside = ir.CreateICmpULE(source, ir.getInt32(31));
  source = ir.CreateSelect(inside, source, self);
  to.finish(to.air("air.simd_shuffle." + suffix, to.type(), {value, to.lane(source)}, true));
  return true;
}

}  // namespace

void lower_nvvm(llvm::Module& module) {
  lower_calls(module, "llvm.nvvm.", [](Replacement& to, const llvm::Function& callee) {
    const llvm::StringRef name = callee.getName();
    lower_register(to, name) || lower_nvvm_barrier(to, name) || lower_shuffle(to, name);
  });
}

}  // namespace smelt::aot::input
