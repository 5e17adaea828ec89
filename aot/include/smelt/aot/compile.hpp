// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM IR or Metal source in, finished Metal libraries out, for one target or several. The one door of aot for
// everybody else.
//
//   read      every input to kernel IR, once whatever the number of targets        (aot/frontend/ir/reader.hpp)
//             Metal source: Clang, then each kernel by itself                      (aot/frontend/msl/frontend.hpp)
//   legalise  for each target: AIR, one module an entry point                      (aot/air/legalise/legalise.hpp)
//   write     LLVM 14 bitcode with typed pointers; then the container              (aot/air/bitcode/writer.hpp)
//
// Deterministic: the bytes depend on the inputs' bytes and the options below alone; not on their names or folders, the
// locale, the number of threads, or what else is compiled in the same call.
#pragma once

#include "smelt/aot/kernel_info.hpp"
#include "smelt/aot/math_mode.hpp"
#include "smelt/aot/target.hpp"
#include "smelt/base/bytes.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::aot {

/// One input: LLVM IR (text or bitcode, bare or wrapped), Metal source or a Metal library, told apart by its bytes.
struct Source {
  std::string name;  ///< for messages, and the folder in which Metal source finds its includes
  ByteView bytes;    ///< borrowed during the call
};

/// A macro of Metal source: where it is defined, by the text or by CompileOptions, messages of kernels (os_log, Metal
/// 3.2) are kept, as -fmetal-enable-logging asks. Else they are dropped and only their operands are evaluated.
inline constexpr char kLoggingMacro[] = "SMELT_METAL_LOGGING";

struct CompileOptions {
  /// What to build for. Empty: the target that the inputs were built for when all are Metal libraries of one target,
  /// else default_target().
  std::vector<Target> targets;
  // The plain ones, which options.def describes.
#define SMELT_FLAG(member, ...) bool member = false;
#define SMELT_NUMBER(member, type, ...) std::optional<type> member;
#define SMELT_TEXTS(member, ...) std::vector<std::string> member;
#include "smelt/aot/options.def"
  /// Triton's JSON beside a kernel (`shared`, `num_warps`, `warp_size`), or the like. Empty: none.
  std::string metadata_json;
  /// Of LLVM IR: what is stamped, and which functions are meant; its operations say themselves what they allow.
  MathOptions math;
  std::optional<Version> language;  ///< Metal language version of source, and to stamp; the target's when empty
  /// A translation unit for make_object (object.hpp): Metal source without a kernel is not an error.
  bool object = false;
  /// Where the precompiled Metal headers are kept between processes; empty: made once in each process.
  std::string cache_folder;
  /// Of emit_ll(): the last pass of the legaliser to run, one of pass_names(); empty: all of them.
  std::string stop_after;
  unsigned threads = 1;  ///< 0: one a core
  /// Called with the number of entry points done and all of them; from any thread, one call at a time.
  std::function<void(size_t done, size_t total)> progress;
};

/// One finished entry point.
struct CompiledFunction {
  KernelInfo info;
  Bytes bitcode;  ///< "BC" C0 DE ..., without wrapper; what lies in the library, unless it is for the CPU alone
};

struct CompiledTarget {
  Target target;
  std::vector<CompiledFunction> functions;  ///< in the order of the inputs, then of each module
  Bytes metallib;
};

struct Compiled {
  std::vector<CompiledTarget> targets;    ///< as in the options
  std::vector<std::string> warnings;      ///< one line each (of Metal source: with the line below), without duplicates
  std::vector<std::string> dependencies;  ///< files that Metal source included, as found
};

/// All or nothing: the first error (in the order of inputs, entry points, targets) is the result. Codes: source_type,
/// truncated, corrupt, compile_failed, unsupported, invalid_argument; the message names the input and, when it is text,
/// the line. Thread-safe; needs no set-up.
Result<Compiled> compile(std::span<const Source> sources, const CompileOptions& options = {});

/// The legaliser's passes in their order: the names of functions, of files in aot/air/legalise and of --stop-after.
std::vector<std::string_view> pass_names();

/// One entry point's AIR for one target as LLVM text. `function` may be empty when there is only one.
Result<std::string> emit_ll(std::span<const Source> sources, const CompileOptions& options,
                            std::string_view function = {});

/// The AIR of a function (empty: of all) of a Metal library or a bitcode file as LLVM text.
Result<std::string> disassemble(ByteView file, std::string_view name, std::string_view function = {});

}  // namespace smelt::aot
