// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CPU code that is made when it is needed, and replaced by better code when it runs often. The loader compiles nothing:
// a program that can (smelt's Python package, libsmelt-metal) hands it what does. docs/design/loader.md 3.9.
#pragma once

#include "smelt/loader/types.hpp"

#include <chrono>
#include <functional>

namespace smelt::loader {

/// How much time went into CPU code, and when better code should replace it.
struct CodeTier {
  std::string effort;  ///< how much time went into it: "fast"; what PipelineState::effort() says
  /// Time that the launches of one pipeline take together, after which better code is worth its making (worth_after).
  std::chrono::nanoseconds better_after{0};
  /// Called once for that pipeline, by the thread that launched it, after a launch and without any lock. It should hand
  /// the work to another thread, which calls replace_code(). Must not throw. Empty: the code stays.
  std::function<void(const PipelineRef&)> better;
};

/// The run time after which better code is worth its cost, for a package with `code_bytes` of CPU code. Compiling costs
/// about 4 us per byte. The saving is unknown, so better code is requested once as much has been spent on running: that
/// never costs more than twice the best choice.
std::chrono::nanoseconds worth_after(size_t code_bytes);

/// What a CodeSource returns: a package whose only library has the kernel, with code for the CPU.
struct KernelCode {
  OwnedBytes package;
  std::shared_ptr<const CodeTier> tier;  ///< null: the code stays, and its effort is unknown
};

/// Makes CPU code of kernels of a Metal library, one at a time. LoadOptions::code_source.
class CodeSource {
 public:
  virtual ~CodeSource() = default;
  /// `metallib` is a Metal library with the kernel alone, but for visible functions that it may call; equal for equal
  /// kernels, so code may be kept under its digest. An error here is the error of making the pipeline. Any thread,
  /// several kernels at once, but never twice at once for a kernel of one library: others that want it wait.
  virtual Result<KernelCode> code_for(std::string_view kernel, const OwnedBytes& metallib) = 0;
};

/// Gives a pipeline the code that `better` has for a kernel of its name. Launches that begin from now on run that;
/// those under way end with what they began with, which is kept as long as the pipeline. Any thread. `effort` is what
/// the pipeline says from then on. Errors: those of building a pipeline in `better`; invalid_argument when the pipeline
/// is not the CPU's or `better` is for another device. Then the pipeline stays as it was.
Result<void> replace_code(const PipelineState& pipeline, const Library& better, std::string_view effort);

/// Reports that better code could not be made: to the trace, and to stderr where SMELT_LOG is info or debug.
void tell_kept(const PipelineState& pipeline, std::string_view reason);

}  // namespace smelt::loader
