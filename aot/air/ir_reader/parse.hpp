// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bytes of one LLVM module to a verified module: text from LLVM 14 (typed pointers) to 22, bitcode from LLVM 3 to
// 19, on LLVM 19. What its calls mean is the front end's business.
#pragma once

#include "smelt/base/bytes.hpp"

#include "kernel_ir/kernel_module.hpp"

#include <memory>
#include <string_view>

namespace smelt::aot::input {

/// A verified LLVM module as it was written, but for AIR's data layout. Errors and threads: as read_input
/// (ir/reader.hpp).
Result<KernelModule> parse_module(ByteView bytes, std::string_view name);
/// The same into a context that has modules already, for those who join them. Afterwards the context's diagnostics are
/// nobody's.
Result<std::unique_ptr<llvm::Module>> parse_into(llvm::LLVMContext& context, ByteView bytes, std::string_view name);

}  // namespace smelt::aot::input
