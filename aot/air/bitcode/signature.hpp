// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointee types that are fixed from outside: by the name of an `air.*` or `llvm.*` declaration, or by an entry point's
// argument metadata. Everything else is the canonical i8 and needs no table.
//
//   air.*                         its row of ops/ops.def
//   __tensorops_impl_*_run_*      the first: %"struct.mpp::tensor_ops::matmul2d_descriptor"
//   llvm.invariant.end            its first operand is {}*, what llvm.invariant.start returns
//   llvm.masked.load, .store      the vector
//
// Evidence: tests/aot/data/air-harvest.tsv (each name with Apple's typed signature), docs/formats/air.md 3.12; tests
// compare all of it.
#pragma once

#include "bitcode/types.hpp"

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace smelt::aot::bitcode {

/// Pointee of the pointer parameter `index` of a function named air.* or llvm.*.
TypeId pointee_by_name(TypeTable& types, const llvm::Function& function, unsigned index);

/// Return type of a function named air.* or llvm.*.
TypeId result_by_name(TypeTable& types, const llvm::Function& function);

/// Typed-pointer mangling names the pointee: "llvm.memcpy.p3.p1.i64" -> "llvm.memcpy.p3i8.p1i8.i64".
std::string typed_intrinsic_name(llvm::StringRef name);

/// Types of entry parameters that are handles (textures, samplers, function tables), from !air.kernel and its siblings.
using HandleParameters = llvm::DenseMap<std::pair<const llvm::Function*, unsigned>, TypeId>;
HandleParameters entry_handles(TypeTable& types, const llvm::Module& module);

}  // namespace smelt::aot::bitcode
