// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiling, by a library that is opened when something has to be compiled: a program whose kernels are in the store,
// or that brings packages, never loads LLVM.
#pragma once

#include "smelt/base/checks.hpp"
#include "smelt/loader/types.hpp"
#include "smelt/signing/origin.hpp"

#include <memory>
#include <string>
#include <vector>

struct smelt_translated;

namespace smelt::metal {

/// What messages about source begin with.
constexpr const char* kSourceName = "program_source";

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
  Checks checked;
  std::string effort = "balanced";  ///< "fast", ...: time that its code may take to make
};

/// A package, and where it came from: the compiler's library may have had it, or a part of it, from a remote. Whoever
/// keeps something made of it keeps that too.
struct Package {
  loader::OwnedBytes bytes;
  signing::Provenance origin;
};

/// The source's package, all of its kernels, without CPU code. `not_cached` when it may not be compiled
/// ($SMELT_OFFLINE), `toolchain_missing` without libsmelt-compiler.so. Any thread.
Result<Package> compiled_source(const SourceRequest& request);

/// A package with the CPU code of that kernel alone; likewise.
Result<Package> compiled_kernel(const KernelRequest& request);
/// The same on a thread that nobody waits for, which the end of the process ends: `cancelled`.
Result<Package> compiled_in_background(const KernelRequest& request);

/// Source that was read and checked whole, its kernels yet to be compiled. Any thread.
class TranslatedSource {
 public:
  /// For CPU code of `level` ("x86-64-v3"); likewise.
  static Result<std::shared_ptr<const TranslatedSource>> read(const SourceRequest& request, const std::string& level,
                                                              Checks checked);
  /// Names, in the order of the source.
  const std::vector<std::string>& kernels() const { return kernels_; }
  /// A package with the CPU code of that kernel alone; likewise.
  Result<Package> compile(const std::string& kernel, const std::string& effort) const;

 private:
  std::shared_ptr<smelt_translated> handle_;
  std::vector<std::string> kernels_;
};

}  // namespace smelt::metal
