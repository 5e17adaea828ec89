// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of LLVM's -O3 whose time grows with the square of a function's length: they look at accesses to memory, or at
// their addresses, pair by pair.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Module;
}  // namespace llvm

namespace smelt::aot {

/// While it lives, this thread's pipelines leave out what is too slow for the longest function of the module.
class WithoutSlowPasses {
 public:
  explicit WithoutSlowPasses(const llvm::Module& module);
  ~WithoutSlowPasses();
  WithoutSlowPasses(const WithoutSlowPasses&) = delete;

 private:
  unsigned before_;
};

/// For pass_callbacks(), by the name of a pass's class.
bool is_left_out(llvm::StringRef pass);

}  // namespace smelt::aot
