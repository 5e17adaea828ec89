// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's diagnostics as values. Without a handler, an error that LLVM reports through its context ends the process.
#pragma once

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
}

namespace smelt::aot {

/// A context whose first error is kept in `message` (which must outlive its use) and whose remarks are dropped.
void install_diagnostics(llvm::LLVMContext& context, std::shared_ptr<std::string> message);

}  // namespace smelt::aot
