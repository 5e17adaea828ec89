// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "legalise/memory_order.hpp"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

constexpr int kFlags = 3;  // device and threadgroup memory

}  // namespace

MemoryScope scope_of(const llvm::LLVMContext& context, llvm::SyncScope::ID id) {
  if (id == llvm::SyncScope::SingleThread) return MemoryScope::thread;
  if (id == llvm::SyncScope::System) return MemoryScope::device;
  llvm::SmallVector<llvm::StringRef, 8> names;
  context.getSyncScopeNames(names);
  llvm::StringRef name = id < names.size() ? names[id] : "";
  name.consume_back("-one-as");
  if (name == "singlethread" || name == "one-as") return name == "one-as" ? MemoryScope::device : MemoryScope::thread;
  if (name == "workgroup" || name == "block" || name == "threadgroup") return MemoryScope::threadgroup;
  if (name == "wavefront" || name == "subgroup" || name == "simdgroup") return MemoryScope::simdgroup;
  return MemoryScope::device;
}

Result<void> emit_fence(PassContext& context, llvm::IRBuilderBase& builder, MemoryScope scope,
                        const llvm::Instruction& at) {
  const auto number = [&](int value) { return builder.getInt32(static_cast<uint32_t>(value)); };
  if (scope == MemoryScope::simdgroup) {
    llvm::SmallVector<llvm::Value*, 3> operands = {number(kFlags)};
    if (context.target.air >= kFirstMemoryFlags) operands.push_back(number(kSeqCst));
    operands.push_back(number(simdgroup_barrier_scope(context.target.air)));
    SMELT_TRY_VOID(call_air(builder, context, "air.simdgroup.barrier", operands));
    return {};
  }
  const auto fence = lookup("air.atomic.fence", context.target.air);
  if (fence) {
    SMELT_TRY_VOID(call_air(builder, context, "air.atomic.fence",
                            {number(kFlags), number(kSeqCst), number(static_cast<int>(scope))}));
    return {};
  }
  if (context.options.relaxed_atomics) {
    context.warnings.push_back(
        fmt::format("{}: ordering dropped, {} has relaxed atomics only", place_of(at), context.target.name));
    return {};
  }
  return fail(Errc::unsupported,
              "memory order stronger than relaxed needs fences: {}. For {}, the order can be given up with "
              "--relaxed-atomics; at {}",
              fence.error().message, context.target.name, place_of(at));
}

}  // namespace smelt::aot::air
