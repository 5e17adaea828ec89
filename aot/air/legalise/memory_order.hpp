// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's synchronisation scopes and orders in AIR's terms (docs/formats/air.md 3.6).
#pragma once

#include "interface/limits.hpp"
#include "legalise/support.hpp"

namespace smelt::aot::air {

/// The scope operand of atomics, fences and barriers.
enum class MemoryScope : uint8_t { thread = 0, threadgroup = 1, device = 2, simdgroup = 4 };

/// The order operand of fences and barriers that order everything their flags name. Before Metal 4.1 fences have no
/// other above relaxed.
inline constexpr int kSeqCst = 5;

/// "agent", "workgroup", "wavefront", "singlethread", ... with or without AMD's "-one-as"; unknown names are device.
MemoryScope scope_of(const llvm::LLVMContext& context, llvm::SyncScope::ID id);

/// A fence of device and threadgroup memory at `builder`, or an error that names `at` where the target has none.
Result<void> emit_fence(PassContext& context, llvm::IRBuilderBase& builder, MemoryScope scope,
                        const llvm::Instruction& at);

}  // namespace smelt::aot::air
