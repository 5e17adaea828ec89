// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any LLVM's IR to one module of kernel IR (kernel_module.hpp): text from LLVM 14 (typed pointers) to 22, bitcode from
// LLVM 3 to 19, on LLVM 19.
//
//   kind      what the bytes are                             (inputs/kind.hpp)
//   parse     text: tokens, newer spellings, LLVM's parser   (ir_reader/parse.hpp)
//             bitcode: a bounded walk, LLVM's reader
//             both: LLVM's verifier; broken debug info is dropped, broken code is an error
//   dialect   AIR already, AMD's, or plain GPU-style IR: what its calls and address spaces mean   (dialect.hpp)
#pragma once

#include "smelt/base/bytes.hpp"

#include "inputs/kind.hpp"
#include "kernel_ir/kernel_module.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::aot::input {

struct InputOptions {
  /// Functions to treat as kernels besides those that the module marks itself. A name that is not there is an error.
  std::vector<std::string> kernels;
  /// Given: names that are not there are collected here instead (several inputs may share the list).
  std::vector<std::string>* missing_kernels = nullptr;
  /// Threads per threadgroup of the launch, when the caller knows it (Triton's metadata): some IR counts on it.
  uint32_t threads_per_threadgroup = 0;
  /// Pointers behind a kernel's own arguments that a compiler added for itself (Triton's metadata); unknown when empty.
  std::optional<uint32_t> hidden_pointers;
};

/// The module of one input, verified, in kernel IR. `name` is for messages. Threads: any number at once; the result
/// has a context of its own. Text that needs more than MiBs of stack gets it.
///
/// Errors: source_type (no IR: says what it looks like), truncated, corrupt, compile_failed (IR that does not parse or
/// verify, no kernel in it), unsupported (newer than LLVM 19 can read, beyond the limits, or foreign operations).
/// Each names the input, and the line or the bit.
Result<KernelModule> read_input(ByteView bytes, std::string_view name, const InputOptions& options = {});

}  // namespace smelt::aot::input
