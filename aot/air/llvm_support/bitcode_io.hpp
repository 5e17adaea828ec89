// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "smelt/base/bytes.hpp"

namespace llvm {
class Module;
}

namespace smelt::aot {

/// As LLVM's own writer has it, for another reader within this process: what users get, bitcode writes.
Bytes to_bitcode(const llvm::Module& module);

}  // namespace smelt::aot
