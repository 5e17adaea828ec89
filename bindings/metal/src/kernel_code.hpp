// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the CPU code of a library's kernels comes from, one kernel at a time: a library may have a thousand of them, of
// which a program uses ten. Who waits for a pipeline gets what is ready soonest, and better code later if it runs
// often.
#pragma once

#include "smelt/base/checks.hpp"
#include "smelt/loader/library.hpp"

#include "compiler.hpp"
#include "device_object.hpp"

#include <memory>
#include <string>
#include <vector>

namespace smelt::metal {

/// Of one library, for one kind of device. Any thread.
class KernelCode {
 public:
  virtual ~KernelCode() = default;
  /// What the store and binary archives keep the kernel's code of that effort ("fast", ...) under.
  virtual Digest key(const std::string& kernel, const std::string& effort) const = 0;
  /// A package with the code of that kernel alone. Errors: `not_cached` when it may not be compiled ($SMELT_OFFLINE),
  /// `toolchain_missing` without libsmelt-compiler.so, those of compiling.
  virtual Result<Package> compile(const std::string& kernel, const std::string& effort) = 0;
  /// A Metal library that has the kernel of `package`, which is compile()'s.
  virtual Result<loader::OwnedBytes> metallib_behind(const loader::OwnedBytes& package) const = 0;
};
using KernelCodeRef = std::shared_ptr<KernelCode>;

/// From the AIR of a Metal library, whose digest is `digest`. `level`: "x86-64-v3".
KernelCodeRef code_of(loader::OwnedBytes metallib, const Digest& digest, std::string level, Checks checked);

struct SourceKernels {
  std::vector<std::string> names;  ///< in the order of the source
  KernelCodeRef code;
};
/// From source, which is read and checked whole here, unless the store knows its kernels already: then not before one
/// of them must be compiled. `key`: the source's (stored_code.hpp). Errors: those of the source, and as in compile().
Result<SourceKernels> kernels_of(SourceRequest request, const Digest& key, std::string level, Checks checked);

/// The effort of code that is made to last: what SMELT_CPU_EFFORT says, else "balanced".
std::string lasting_effort();

/// Code of that effort: found in the store, else compiled and kept there. Errors: those of compile().
Result<loader::OwnedBytes> lasting_code(KernelCode& code, const std::string& kernel);

/// The library of one kernel for a pipeline that somebody waits for: exactly the code that SMELT_CPU_EFFORT asks for,
/// else what the store has, else fast code. Fast code of a kernel that runs often is replaced by balanced code, made in
/// the background, unless SMELT_CPU_REPLACE is 0. Errors: those of compile().
Result<loader::LibraryRef> library_of(const DeviceObject& device, const KernelCodeRef& code, const std::string& kernel);

/// The metallib of a package's only library, for the target that is preferred, or else for a newer system.
Result<loader::OwnedBytes> metallib_of(const loader::OwnedBytes& package, std::string_view preferred);

}  // namespace smelt::metal
