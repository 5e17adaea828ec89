// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the CPU code of a library's kernels comes from, one kernel at a time: a library may have a thousand of them, of
// which a program uses ten.
#pragma once

#include "compiler.hpp"

#include <memory>
#include <string>
#include <vector>

namespace smelt::metal {

/// Of one library, for one kind of device. Any thread.
class KernelCode {
 public:
  virtual ~KernelCode() = default;
  /// What the store and binary archives keep the kernel's code under.
  virtual Digest key(const std::string& kernel) const = 0;
  /// A package with the code of that kernel alone: found in the store, else compiled and kept there. Errors:
  /// `not_cached` when it is neither there nor may be compiled ($SMELT_OFFLINE), `toolchain_missing` without
  /// libsmelt-compiler.so, those of compiling.
  virtual Result<loader::OwnedBytes> make(const std::string& kernel) = 0;
};

/// From the AIR of a Metal library, whose digest is `digest`. `level`: "x86-64-v3".
std::shared_ptr<KernelCode> code_of(loader::OwnedBytes metallib, const Digest& digest, std::string level, bool checked);

struct SourceKernels {
  std::vector<std::string> names;  ///< in the order of the source
  std::shared_ptr<KernelCode> code;
};
/// From source, which is read and checked whole here, unless the store knows its kernels already: then not before one
/// of them must be compiled. `key`: the source's (stored_code.hpp). Errors: those of the source, and as in make().
Result<SourceKernels> kernels_of(SourceRequest request, const Digest& key, std::string level, bool checked);

}  // namespace smelt::metal
