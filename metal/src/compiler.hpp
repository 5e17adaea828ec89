// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiling, by a library that is opened when something has to be compiled: a program whose kernels are in the store,
// or that brings packages, never loads LLVM.
#pragma once

#include "smelt/loader/types.hpp"

#include <string>
#include <vector>

namespace smelt::metal {

/// Metal source and how it is compiled.
struct SourceRequest {
  std::string text;
  std::string target;                    ///< "macos15"
  std::vector<std::string> definitions;  ///< "NAME=VALUE"
  std::optional<Version> language;
  bool fast_math = true;
};

/// One kernel of a Metal library for this CPU. The metallib is borrowed.
struct KernelRequest {
  ByteView metallib;
  Digest digest;  ///< of the metallib
  std::string function;
  std::string level;  ///< "x86-64-v3"
  bool checked = false;
  std::string effort = "balanced";  ///< "fast", ...: time that its code may take to make
};

/// The source's package, without CPU code: found in the store, else compiled and kept there. `not_cached` when it is
/// neither there nor may be compiled ($SMELT_OFFLINE), `toolchain_missing` without libsmelt-compiler.so. Any thread.
Result<loader::OwnedBytes> compiled_source(const SourceRequest& request);

/// A package with the CPU code of that kernel alone; likewise.
Result<loader::OwnedBytes> compiled_kernel(const KernelRequest& request);
/// Found in the store, or nothing.
std::optional<loader::OwnedBytes> stored_kernel(const KernelRequest& request);
/// The same as compiled_kernel on a thread that nobody waits for, which the end of the process ends: `cancelled`.
Result<loader::OwnedBytes> compiled_in_background(const KernelRequest& request);

}  // namespace smelt::metal
