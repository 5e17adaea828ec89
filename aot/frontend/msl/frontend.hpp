// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal source to a module of LLVM IR and the facts about its kernels. The rest of the way to kernel IR
// (kernel_module.hpp) is made for one kernel at a time: entry_points.hpp.
//
//   headers.hpp                    the standard library: embedded, served from memory, precompiled once
//   token_filter.hpp               Metal's words to C++ that Clang parses
//   read_facts.hpp, strictness.hpp the tree: what the kernels are; what Metal forbids
//   diagnostics.hpp                messages in Metal's words, at the user's line
//   cut_kernels.hpp                each kernel as a module of its own, when it is wanted
#pragma once

#include "smelt/aot/math_mode.hpp"
#include "smelt/aot/target.hpp"
#include "smelt/base/bytes.hpp"
#include "smelt/base/digest.hpp"
#include "smelt/base/result.hpp"

#include "msl/facts/kernel_facts.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::aot {
struct CompileOptions;
}

namespace smelt::aot::msl {

struct MslOptions {
  Version language{3, 1, 0};  ///< 1.0 to 4.1
  Platform platform = Platform::macos;
  MathOptions math;
  bool debug_lines = false;
  bool has_tensors = false;  ///< all targets have them: <metal_tensor> is there
  std::vector<std::string> include_folders, quote_folders;
  std::vector<std::string> definitions;                                                    ///< "NAME" or "NAME=VALUE"
  std::vector<std::string> system_folders, undefinitions, forced_includes, warning_flags;  ///< as in CompileOptions
  std::vector<std::string> functions;  ///< kernels to make; empty: all
  bool object = false;                 ///< functions for other objects too, behind the kernels
  std::string cache_folder;            ///< where the precompiled headers are kept; empty: in this process alone
};

/// One kernel, unoptimised. The rest of its way depends on nothing else.
struct MslKernel {
  KernelFact fact;
  std::vector<ConstantFact> constants;  ///< those that it may read
  Bytes bitcode;                        ///< LLVM 19's: the kernel and what it reaches (cut_kernels.hpp)
};

/// The same kernel from whatever source gives the same digest.
Digest digest_of(const MslKernel& kernel);

class KernelCutter;

/// A translated source, shared between threads.
struct MslModule {
  MslModule();
  ~MslModule();
  MslModule(const MslModule&) = delete;
  MslModule& operator=(const MslModule&) = delete;

  /// A kernel that was asked for, cut out of the source at the first call; lives as long as this. Threads: any number
  /// at once, of which one cuts. Errors: compile_failed when the compiler crashes over it.
  Result<const MslKernel*> kernel(size_t index) const;

  std::vector<KernelFact> kernels;        ///< all that were asked for
  std::vector<std::string> all_kernels;   ///< names in the source, asked for or not
  std::vector<std::string> warnings;      ///< "x.metal:3:5: warning: ..."
  std::vector<std::string> dependencies;  ///< files that were included, as found; not those of the standard library
  std::unique_ptr<KernelCutter> cutter;   ///< made by translate()
};

/// What of the options Clang is told. Metal source is translated once; its language is what all targets know, unless a
/// version is asked for.
MslOptions msl_options(const CompileOptions& options);

/// `name` is the source's path: includes are looked up next to it first, and messages begin with it. Errors:
/// compile_failed with all of the compiler's messages, one "file:line:column: error: ..." each; unsupported for a
/// language version that is not known. Crash-safe: what takes Clang down is an error too. Threads: any number at once.
Result<std::shared_ptr<const MslModule>> translate(std::string_view text, std::string_view name,
                                                   const MslOptions& options);

/// `unsupported` for a language version that is not known.
Result<void> check_language(const MslOptions& options, std::string_view name);

/// The versions that `translate` knows, as __METAL_VERSION__ numbers; 0: none.
unsigned metal_version_number(const Version& language);

}  // namespace smelt::aot::msl
