// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CPU code that is made when it is needed, and replaced by better code when it runs often. The loader compiles nothing:
// a program that can (smelt's Python package, libsmelt-metal) hands it what does. docs/design/loader.md 3.9.
#pragma once

#include "smelt/loader/types.hpp"

#include <chrono>
#include <functional>

namespace smelt::loader {

/// The effort of CPU code, and when better code should replace it.
struct CodeTier {
  std::string effort;  ///< what PipelineState::effort() returns, such as "fast"
  /// The total run time of a pipeline's launches after which better code is worth compiling (worth_after).
  std::chrono::nanoseconds better_after{0};
  /// Called once for such a pipeline, by the thread that launched it, after a launch and without a lock. It should
  /// start the work on another thread, which then calls replace_code(). It must not throw. Empty: the code stays.
  std::function<void(const PipelineRef&)> better;
};

/// The run time after which better code is worth its cost, for a package with `code_bytes` of CPU code. Compiling costs
/// about 4 us per byte. The saving is unknown, so better code is requested once as much has been spent on running: that
/// never costs more than twice the best choice.
std::chrono::nanoseconds worth_after(size_t code_bytes);

/// What a CodeSource returns.
struct KernelCode {
  OwnedBytes package;                    ///< its only library has the kernel, with code for the CPU
  std::shared_ptr<const CodeTier> tier;  ///< null: the code stays, and its effort is unknown
};

/// Makes CPU code of kernels of a Metal library, one at a time. LoadOptions::code_source.
class CodeSource {
 public:
  virtual ~CodeSource() = default;
  /// Makes the code of one kernel. `metallib` is a Metal library with this kernel and the visible functions that it may
  /// call; it is equal for equal kernels, so you can keep code under its digest. An error is the error of building the
  /// pipeline. It is called from any thread, for several kernels at once, but not twice at once for the same kernel of
  /// a library: other threads wait.
  virtual Result<KernelCode> code_for(std::string_view kernel, const OwnedBytes& metallib) = 0;
};

/// Replaces a pipeline's code by that of the kernel of the same name in `better`, from any thread. Later launches run
/// the new code. Running launches end with the old one, which stays as long as the pipeline. `effort` is the pipeline's
/// new effort. Errors: those of building a pipeline in `better`; invalid_argument if the pipeline is not for the CPU or
/// `better` is for another device. The pipeline then stays unchanged.
Result<void> replace_code(const PipelineState& pipeline, const Library& better, std::string_view effort);

/// Reports that better code could not be made: to the trace, and to stderr where SMELT_LOG is info or debug.
void tell_kept(const PipelineState& pipeline, std::string_view reason);

}  // namespace smelt::loader
