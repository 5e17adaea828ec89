// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What AIR has, by list: types, address spaces, constants, instructions, intrinsics, attributes, linkage. What is not
// on a list is refused, whoever wrote the module: input that is already AIR comes from anywhere, and LLVM knows
// hundreds of intrinsics and attributes that reach the machine (system calls, the return address, thread-local memory,
// stack guards). The lists hold what Apple's language reference and the operations table allow; every module of the
// Apple-built libraries that the tests read passes.
//
// What passes can still leave a buffer through pointer arithmetic: that is what checked code is for
// (CpuOptions::checked).
#pragma once

#include "smelt/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace smelt::aot::allow_list {

/// One thing that AIR does not have.
struct Breach {
  std::string place;          ///< "function 'f'", "global 'g'"; empty for the module as a whole
  std::string message;        ///< what stands there
  bool verify_knows = false;  ///< `smelt verify` has a check of its own for it, which says it in more words
};

/// Which address spaces pointers may be in. Beyond the first, nothing here makes code for them.
enum class Spaces : uint8_t {
  of_kernels,
  with_tile,  ///< and that of imageblocks
  with_mesh,  ///< and those of a mesh and of what an object hands on
};

/// The spaces that the module's stage and operations may use.
Spaces spaces_of(const llvm::Module& module);

/// The first `most` things in the module, in its own order, that AIR does not have. The module is valid for LLVM's
/// verifier.
std::vector<Breach> find_breaches(const llvm::Module& module, size_t most, Spaces spaces = Spaces::of_kernels);

/// In front of every code generation: an error (unsupported) when there is a breach. Attributes and metadata that only
/// steer code generation, and that AIR has no use for, are taken off.
Result<void> admit(llvm::Module& module);

}  // namespace smelt::aot::allow_list
