// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM 19's enumerations as the numbers that LLVM 14 records hold. What LLVM 14 has no number for is nullopt.
#pragma once

#include "llvm/IR/Instructions.h"
#include "llvm/Support/Alignment.h"

#include <cstdint>
#include <optional>

namespace smelt::aot::bitcode {

// LLVM 14's numbers. LLVM 19's header calls 12 CE_GEP_OLD; LLVM 14 does not know LLVM 19's CE_GEP.
constexpr uint32_t kConstantGep = 12, kConstantInboundsGep = 20;

/// The calling word of CALL: bit 15 says that the function type is explicit, bit 17 that flags follow.
uint32_t call_word(const llvm::CallInst& call, bool has_flags);
std::optional<uint32_t> cast_code(unsigned opcode);
std::optional<uint32_t> binary_code(unsigned opcode);
std::optional<uint32_t> atomic_operation_code(llvm::AtomicRMWInst::BinOp operation);
uint32_t ordering_code(llvm::AtomicOrdering ordering);
uint32_t linkage_code(const llvm::GlobalValue& value);
uint32_t unnamed_address_code(const llvm::GlobalValue& value);

/// nuw, nsw, exact and fast-math flags, only those that LLVM 14 has: nneg, disjoint, samesign, nuw and nsw of trunc,
/// and nusw of getelementptr fall away here, which is always sound.
uint32_t flags_of(const llvm::Value& value);

/// Signed numbers in VBR operands: magnitude << 1, the low bit is the sign, and the lowest number of all is 1.
inline uint64_t signed_vbr(uint64_t value) {
  if (static_cast<int64_t>(value) >= 0) return value << 1;
  return value == uint64_t{1} << 63 ? 1 : ((~value + 1) << 1) | 1;
}

/// log2 + 1; 0 for none.
inline uint32_t align_code(llvm::MaybeAlign align) {
  return align ? llvm::Log2(*align) + 1 : 0;
}

}  // namespace smelt::aot::bitcode
