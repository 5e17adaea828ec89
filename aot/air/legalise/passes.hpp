// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes of the legaliser, in the order in which legalise.cpp runs them. A pass has one name everywhere: function,
// file, --stop-after, test. Each is a no-op on AIR that Apple's compiler wrote, unless its comment says otherwise.
#pragma once

#include "legalise/legalise.hpp"

#include <string>
#include <vector>

namespace llvm {
class Function;
}

namespace smelt::aot::air {

/// What a pass works on.
struct PassContext {
  llvm::Module& module;
  llvm::Function* entry;  ///< passes that change its signature replace it
  std::string stage;      ///< "kernel", ...
  const Target& target;
  const LegaliseOptions& options;
  /// The input came with !air.version: some compiler made it for Metal already.
  bool finished;
  std::vector<std::string>& warnings;
};

/// One module per entry point; the others' code goes. Runs on the whole input.
Result<std::vector<AirModule>> split_entries(KernelModule input);

// Input hygiene. Kernel IR only.
Result<void> strip_hints(PassContext&);     ///< what other targets and tools left: attributes, flags, metadata
Result<void> reject_foreign(PassContext&);  ///< inline assembly, exceptions, calls to nowhere: errors
Result<void> inline_helpers(PassContext&);  ///< helpers that cannot stay functions; the rest become fastcc
Result<void> entry_allocas(PassContext&);   ///< thread memory at the head of the function, of constant size

// The kernel's interface. Kernel IR only.
Result<void> builtins_to_arguments(PassContext&);  ///< smelt.builtin.* calls -> trailing arguments
Result<void> kernel_arguments(PassContext&);       ///< scalars -> constant T&, generic pointers -> device
Result<void> threadgroup_memory(PassContext&);     ///< sizes, undef initialisers, the 32 KiB limit
Result<void> constants_to_space2(PassContext&);    ///< constant tables -> space 2
Result<void> infer_address_spaces(PassContext&);   ///< no generic pointers; SROA, InstCombine, EarlyCSE, SimplifyCFG

// Operations. Kernel IR only.
Result<void> cpu_only_operations(PassContext&);  ///< with cpu_only: doubles and atomics of 64 bits -> smelt.cpu.*
Result<void> reject_double(PassContext&);        ///< no Apple GPU has it
Result<void> memory_intrinsics(PassContext&);    ///< memset and memmove that AIR lacks -> loops; lifetimes go
Result<void> atomics(PassContext&);              ///< atomicrmw, cmpxchg, atomic load and store -> air.atomic.*
Result<void> fences(PassContext&);               ///< fence -> air.atomic.fence or a neighbouring barrier
Result<void> math_intrinsics(PassContext&);      ///< llvm.* and frem -> air.* or plain instructions

// Types. Kernel IR only.
Result<void> plain_memory(PassContext&);  ///< no i1, odd or wide types as memory: allocas, globals, GEPs, i1 loads
Result<void> bool_vectors(PassContext&);  ///< <N x i1> <-> iN, lane by lane
Result<void> odd_integers(PassContext&);  ///< i5 -> i8, i48 -> i64
Result<void> lane_values(PassContext&);   ///< lane operations on i64, i1, bfloat, wide vectors -> legal pieces
Result<void> split_values(PassContext&);  ///< vectors above 4, vectors of pointers, aggregates, i128 -> pieces
Result<void> conversions(PassContext&);   ///< integer <-> float -> air.convert

// Shape of the code. Kernel IR only.
Result<void> traps_to_return(PassContext&);           ///< unreachable and trap hang a GPU
Result<void> merge_byte_geps(PassContext&);           ///< gep i8 (gep i8 p, a), b -> gep i8 p, a + b
Result<void> expand_pointer_constants(PassContext&);  ///< no pointer constant expressions in code
Result<void> typed_addresses(PassContext&);           ///< gep i8 p, 24 -> gep %struct.args, p, 0, 3

// The target. Finished AIR too.
Result<void> matrix_memory(PassContext&);       ///< the 2.7 and the 2.8 form of matrix loads and stores
Result<void> memory_order_forms(PassContext&);  ///< the 2.8 and the 2.9 form of atomics and barriers
Result<void> barriers(PassContext&);            ///< convergent everywhere; the scope operand of this AIR version
Result<void> texture_forms(PassContext&);   ///< calls of textures and constant samplers as this AIR version has them
Result<void> version_gate(PassContext&);    ///< nothing that this AIR version cannot say; unknown operations are errors
Result<void> entry_metadata(PassContext&);  ///< !air.kernel and its arguments from the signature
Result<void> module_metadata(PassContext&);  ///< triple, layout, flags, version nodes

}  // namespace smelt::aot::air
