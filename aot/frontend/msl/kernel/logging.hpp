// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages of kernels (os_log, Metal 3.2). Metal's compiler keeps them when logging is enabled, and no code else.
#pragma once

namespace llvm {
class Module;
}

namespace smelt::aot::msl {

/// The module logs nothing. Operands of messages are still evaluated.
void drop_logging(llvm::Module& module);

}  // namespace smelt::aot::msl
