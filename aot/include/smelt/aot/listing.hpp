// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finished code as text, for those who compare it or show it: `smelt diff` and `smelt explain`.
#pragma once

#include "smelt/aot/cpu.hpp"
#include "smelt/base/bytes.hpp"
#include "smelt/base/digest.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::aot {

/// A module without what two builds of the same source may differ in.
struct ComparableModule {
  std::string triple;  ///< as in the module: "air64-apple-macosx14.0.0"
  /// LLVM 19 text. Left out: names of values and of what only this module can name, debug info, names of files and of
  /// the producer, and what says for which system it was built (triple, versions of AIR, of Metal and of the SDK; those
  /// are in KernelInfo and `triple`). Functions and variables stand in the order in which the entry points need them,
  /// named metadata in the order of their names.
  std::string text;
};

/// Of one AIR module (bitcode, bare or wrapped); `name` is for messages. Bounded, deterministic, thread-safe. Errors:
/// those of reading the module.
Result<ComparableModule> comparable_module(ByteView bitcode, std::string_view name);

/// A place in source that a line was made from.
struct SourcePlace {
  uint32_t file = 0;  ///< index into AirListing::files
  uint32_t line = 0;  ///< from 1
};

struct AirLine {
  std::string text;
  /// Where the operation was written, then where what it was written in was called, and so on outwards. Empty where no
  /// debug lines say so.
  std::vector<SourcePlace> places;
};

/// A module's LLVM 19 text without its debug info, line by line, with the source lines that the debug info names.
struct AirListing {
  std::vector<std::string> files;  ///< as the debug info has them
  std::vector<AirLine> lines;
};

/// Of one AIR module; errors as above.
Result<AirListing> list_air(ByteView bitcode, std::string_view name);

struct CpuLine {
  std::string text;
  uint32_t air_line = 0;  ///< from 1, in the module's AirListing; 0: made of no line, or of several
};

/// A kernel's CPU code as assembly.
struct CpuListing {
  std::vector<CpuLine> lines;  ///< code with its labels, then constants with theirs; no other directives
  uint64_t code_bytes = 0;     ///< of the code in a slice
  Digest code;                 ///< its SHA-256: the same as of compile_cpu
  std::string method;          ///< how the kernel became loops
};

/// What compile_cpu makes of the module, as text. Errors: those for which compile_cpu lists a kernel as missing.
Result<CpuListing> list_cpu(const AirModuleView& module, const CpuOptions& options);

}  // namespace smelt::aot
