// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel tells those who launched it, in 32-bit words behind its first hidden pointer:
//
//   word 0    the line of a device_assert that failed (the largest; 0xffffffff: not known); 0: none
//        1    words that device_print has asked for; the launch begins with 0
//        2    words that there are for it, by whoever launches
//        3..  one record a print, in no order:
//               the number of its format (N of @printfFormat_N) | the number of its arguments << 16 | 1 << 31
//               bit i: argument i is the bits of a float; else it is 64 bits as they are, of a double too
//               two words an argument, the lower first
//
// A print that does not fit leaves word 1 above word 2, and no record. A kernel that only asserts touches word 0 alone.
// The Python side is smelt/compat/triton_backend (asserts.py, prints.py).
#pragma once

#include "ir/dialect.hpp"

namespace llvm {
class Argument;
class Function;
class Instruction;
}  // namespace llvm

namespace smelt::aot::input::amdgcn {

/// The name of the function that an instruction calls, if it does.
llvm::StringRef callee_of(const llvm::Instruction& instruction);

/// tl.device_assert: calls that begin the message of a failing side.
std::vector<llvm::Instruction*> asserts_of(llvm::Function& function);
Result<void> lower_assert(llvm::Instruction& begin, llvm::Argument& report, const Origin& origin);

/// tl.device_print: calls that begin, append to and end a message.
std::vector<llvm::Instruction*> prints_of(llvm::Function& function);
Result<void> lower_print(llvm::Instruction& begin, llvm::Argument& report, const Origin& origin);

}  // namespace smelt::aot::input::amdgcn
