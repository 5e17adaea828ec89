// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cuts a translated source into modules of one kernel each. What comes out depends on the kernel and on what it reaches
// alone: two sources that agree in that give the same bytes, whatever else they hold. Kernels are compiled, and kept in
// a store, by these bytes.
#pragma once

#include "smelt/base/bytes.hpp"

#include <memory>
#include <set>
#include <string>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace smelt::aot::msl {

/// Borrows the module, which stays as it is but for the names of its types. One thread.
class KernelCutter {
 public:
  explicit KernelCutter(llvm::Module& whole);
  ~KernelCutter();
  KernelCutter(const KernelCutter&) = delete;
  KernelCutter& operator=(const KernelCutter&) = delete;

  /// The kernel with all functions and variables that it reaches, as bitcode; also the constructors of program-scope
  /// variables, if it reads one that they fill in. External names stay.
  struct Cut {
    Bytes bitcode;
    std::set<std::string> names;  ///< of external functions and variables in it
  };
  Cut cut_out(llvm::Function& kernel);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace smelt::aot::msl
