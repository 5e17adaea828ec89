// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The last look: finished machine code, instruction by instruction. Whatever the allow-list lets through by
// mistake would show here as an instruction that reaches outside: a system call, a segment register, a jump that nobody
// can follow.
#pragma once

#include "smelt/base/bytes.hpp"

namespace llvm {
class TargetMachine;
}

namespace smelt::aot::allow_list {

struct MachineCodeRules {
  bool calls_services = false;  ///< the kernel logs: one call through a pointer that the loader gave is expected
};

/// `object` is what LLVM's code generator for `target` wrote. Every byte of its code must decode; no instruction has an
/// effect that LLVM cannot model (system calls, interrupts, control registers, ports), names a segment register, or
/// jumps or calls through a register or memory; branches stay in their section unless a relocation binds them. An error
/// names the offset and the instruction. Takes as long as disassembling does: for tests and builds with assertions.
Result<void> check_machine_code(ByteView object, const llvm::TargetMachine& target, const MachineCodeRules& rules);

}  // namespace smelt::aot::allow_list
