// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CPU code that is made when it is needed, and replaced by better code when it runs often. The loader compiles nothing:
// a program that can (smelt's Python package, libsmelt-metal) hands it what does. docs/design/loader.md 3.9.
#pragma once

#include "smelt/loader/types.hpp"

#include <chrono>
#include <functional>

namespace smelt::loader {

/// What CPU code is, and what becomes of it.
struct CodeTier {
  std::string effort;  ///< how much time went into it: "fast"; what PipelineState::effort() says
  /// Time that the launches of one pipeline take together, after which better code is worth its making (worth_after).
  std::chrono::nanoseconds better_after{0};
  /// Then told of that pipeline, once. Called by the thread that launched it, after a launch and without any lock; it
  /// should hand the work on, whose end is replace_code(). Must not throw. Empty: the code stays.
  std::function<void(const PipelineRef&)> better;
};

/// After how much run time better code is worth its making, for a package with `code_bytes` of CPU code. Making costs
/// about 4 us per byte (ggml's 574 kernels: 132 s for 31.7 MB), and what better code will save nobody knows before; who
/// pays for it when as much has been spent in the code at hand never spends more than twice what the best choice would.
std::chrono::nanoseconds worth_after(size_t code_bytes);

/// What a CodeSource gives: a package whose only library has the kernel, with code for the CPU.
struct KernelCode {
  OwnedBytes package;
  std::shared_ptr<const CodeTier> tier;  ///< null: it stays as it is, and nobody says what it is
};

/// Makes CPU code of kernels of a Metal library, one at a time. LoadOptions::code_source.
class CodeSource {
 public:
  virtual ~CodeSource() = default;
  /// `metallib` is a Metal library with the kernel alone; equal for equal kernels, so it may be what code is kept
  /// under. Its error is that of whoever wants the pipeline. Any thread, several kernels at once, but never twice at
  /// once for a kernel of one library: others that want it wait.
  virtual Result<KernelCode> code_for(std::string_view kernel, const OwnedBytes& metallib) = 0;
};

/// Gives a pipeline the code that `better` has for a kernel of its name. Launches that begin from now on run that;
/// those under way end with what they began with, which is kept as long as the pipeline. Any thread. `effort` is what
/// the pipeline says from then on. Errors: those of building a pipeline in `better`; invalid_argument when the pipeline
/// is not the CPU's or `better` is for another device. Then the pipeline stays as it was.
Result<void> replace_code(const PipelineState& pipeline, const Library& better, std::string_view effort);

/// For who could not make better code: tells the trace, and stderr where SMELT_LOG is info or debug. Nobody waits for
/// it.
void tell_kept(const PipelineState& pipeline, std::string_view reason);

}  // namespace smelt::loader
