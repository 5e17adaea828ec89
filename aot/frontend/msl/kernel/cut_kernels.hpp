// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cuts a translated source into modules of one kernel each. What comes out depends on the kernel and on what it reaches
// alone: two sources that agree in that give the same bytes, whatever else they hold. Kernels are compiled, and kept in
// a store, by these bytes.
#pragma once

#include "msl/frontend.hpp"

#include <memory>
#include <vector>

namespace llvm {
class Function;
class LLVMContext;
class Module;
}  // namespace llvm

namespace smelt::aot::msl {

/// A translated source with everything in it, until all its kernels are cut out.
class KernelCutter {
 public:
  /// `functions[i]` is the function of kernels[i], in `whole`, whose context is `context`; `constants`: all of the
  /// source.
  KernelCutter(std::unique_ptr<llvm::LLVMContext> context, std::unique_ptr<llvm::Module> whole,
               std::vector<llvm::Function*> functions, std::vector<ConstantFact> constants);
  ~KernelCutter();
  KernelCutter(const KernelCutter&) = delete;
  KernelCutter& operator=(const KernelCutter&) = delete;

  /// The kernel of `functions[index]` with all functions and variables that it reaches, as bitcode; also the
  /// constructors of program-scope variables, if it reads one that they fill in. External names stay. Made at the
  /// first call. Threads: any. Errors: compile_failed, then and from then on, when the compiler crashes over one.
  Result<const MslKernel*> cut_out(size_t index, const KernelFact& fact);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace smelt::aot::msl
