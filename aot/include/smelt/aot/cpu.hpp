// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finished AIR in, native code out: one relocation-free blob per kernel, packed as a CPU slice
// (smelt/schema/cpu_slice.hpp). How it is done: docs/design/cpu-code.md and docs/design/cpu-lanes.md.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/checks.hpp"
#include "smelt/base/cpu_level.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::aot {

/// What the code may assume of the processor: cpu_levels.def.
using smelt::CpuLevel;
using smelt::to_string;

/// "x86-64-v3", "aarch64". An unknown name lists the known ones.
Result<CpuLevel> parse_cpu_level(std::string_view name);
/// The best level that this machine can run; an error below x86-64-v3.
Result<CpuLevel> host_cpu_level();

/// How a kernel becomes loops. `automatic` picks: lanes for kernels with a loop, a barrier or a simdgroup operation,
/// falling back to regions; a plain loop for the others.
enum class CpuMethod : uint8_t { automatic, loop, regions, lanes };

/// How much time goes into a kernel's code. What results may differ in: docs/design/cpu-code.md, 5.
enum class CpuEffort : uint8_t {
  fast,      ///< ready soonest: for a kernel that somebody waits for
  balanced,  ///< large kernels take a shorter way
  best,      ///< no kernel does
};

/// "fast", "balanced", "best". An unknown word lists the known ones.
Result<CpuEffort> parse_cpu_effort(std::string_view word);
std::string_view to_string(CpuEffort effort);

/// One entry point's finished module: bitcode as it lies in a metallib, with or without the wrapper. Borrowed.
struct AirModuleView {
  std::string_view name;
  ByteView bitcode;
};

struct CpuOptions {
  CpuLevel level = CpuLevel::x86_64_v3;
  CpuEffort effort = CpuEffort::balanced;
  CpuMethod method = CpuMethod::automatic;
  Checks checked;          ///< `memory` goes to smelt_cpu_dispatch::fault, the others to services->watch
  unsigned threads = 1;    ///< kernels compiled at once; the bytes do not depend on it
  bool verify_ir = false;  ///< LLVM's verifier after every step (tests)
  /// Visible functions that kernels may call through a table; those that no call can mean cost their reading alone.
  /// Read only for a kernel that calls through one. Borrowed.
  std::span<const AirModuleView> visible;
};

/// A kernel that did not become code, and why.
struct CpuMissing {
  std::string name;
  std::string reason;
};

struct CpuCompiled {
  Bytes slice;  ///< schema::write_cpu_slice; holds the kernels that compiled, in the order given
  std::vector<std::string> kernels;
  std::vector<CpuMissing> missing;
};

/// Compiles every module on its own: one that fails is listed in `missing` and never stops the rest. Deterministic.
/// Modules without a kernel (vertex, fragment, visible functions) are listed as missing. Thread-safe.
Result<CpuCompiled> compile_cpu(std::span<const AirModuleView> modules, const CpuOptions& options);

}  // namespace smelt::aot
