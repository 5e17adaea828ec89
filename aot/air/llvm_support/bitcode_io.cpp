// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/bitcode_io.hpp"

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

namespace smelt::aot {

Bytes to_bitcode(const llvm::Module& module) {
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::WriteBitcodeToFile(module, stream);
  return to_bytes(as_bytes({buffer.data(), buffer.size()}));
}

}  // namespace smelt::aot
