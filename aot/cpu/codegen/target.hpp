// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's view of a CpuLevel, and the two passes over a whole module that end every kernel: optimise and emit.
#pragma once

#include "smelt/aot/cpu.hpp"

#include <memory>
#include <string>

namespace llvm {
class Function;
class Module;
class TargetMachine;
}  // namespace llvm

namespace smelt::aot::cpu {

/// One per thread: LLVM's target machines are not shared. Initialises LLVM's targets on first use (thread-safe).
Result<std::unique_ptr<llvm::TargetMachine>> make_target_machine(CpuLevel level);

/// Gives a function the attributes that every function of a slice has: processor, no library calls, FTZ arithmetic.
void set_function_attributes(llvm::Function& function, const llvm::TargetMachine& target, CpuLevel level);

/// To call before optimise(). Makes calls that keep all registers into calls that keep those of integers, where LLVM 19
/// goes wrong with the former: on AVX-512 they keep ymm but not zmm registers, and the pass that forwards copies then
/// reads a ymm that a call has taken (its machine verifier says: "using an undefined physical register").
void keep_whole_registers(llvm::Module& module, CpuLevel level);

/// Who made vectors of the kernel's threads: LLVM's loop vectoriser is to, or lanes have.
enum class Vectors : uint8_t { wanted, made };

/// Default O3; then what is left of memory intrinsics becomes loops where the code generator would call a library.
/// Where vectors are made already, LLVM's vectoriser of straight code finds nothing in long blocks, slowly; and large
/// modules take a shorter way, on which loops stay as they are, unless the effort is `best`. With `fast` all take it.
void optimise(llvm::Module& module, llvm::TargetMachine& target, Vectors vectors, CpuEffort effort);

/// The module as an ELF object.
Result<Bytes> emit_object(llvm::Module& module, llvm::TargetMachine& target);
/// The same as text, with a `.loc` for every line of debug info.
Result<std::string> emit_assembly(llvm::Module& module, llvm::TargetMachine& target);

}  // namespace smelt::aot::cpu
