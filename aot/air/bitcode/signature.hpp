// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointee types that are fixed from outside: by the name of an `air.*` or `llvm.*` declaration, or by an entry point's
// argument metadata. Everything else is the canonical i8 and needs no table.
//
//   air.atomic.*                    the last type in the name, for the object and for `expected`
//   air.simdgroup_matrix_8x8_*      the p<space><type> component, e.g. p3f16: half addrspace(3)*
//   air.simdgroup_async_copy_*      i8; the result is %struct._simdgroup_event_t*
//   air.wait_simdgroup_events       %struct._simdgroup_event_t**
//   air.*_texture_KIND, *_depth_KIND  %struct._texture_KIND_t, and %struct._sampler_t in space 2
//   air.get_read_sampler, air.get_null_texture_KIND   the result is such a structure's pointer
//   air.get_function_pointer_visible_function_table   %struct._visible_function_table_t
//   air.[fast_]sincos, modf, fract  the last type in the name; air.frexp: i32 of the same shape
//   air.*_private_tensor            %struct._tensor_t
//   __tensorops_impl_*_run_*        the first: %"struct.mpp::tensor_ops::matmul2d_descriptor"
//   llvm.invariant.end              its first operand is {}*, what llvm.invariant.start returns
//   llvm.masked.load, masked.store  the vector
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
