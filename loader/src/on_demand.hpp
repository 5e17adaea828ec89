// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plain metallib on the CPU whose code a CodeSource makes.
#pragma once

#include "smelt/loader/code_source.hpp"
#include "smelt/loader/library.hpp"
#include "smelt/metallib/library.hpp"

#include <mutex>

namespace smelt::loader {

/// Its kernels, each a library of its own that is made when it is first wanted. Thread-safe; nothing is made under a
/// lock that another kernel needs. What failed is tried again by whoever wants it next.
class OnDemand {
 public:
  /// `options` are those of the metallib; `from` has `count` functions.
  OnDemand(DeviceRef device, const LoadOptions& options, OwnedBytes from, size_t count);

  /// Of the function at `index`. Errors: those of the source and of loading what it made.
  Result<LibraryRef> library_of(uint32_t index) const;

 private:
  struct Kernel {
    std::mutex mutex;
    LibraryRef library;
  };
  Result<LibraryRef> make(uint32_t index) const;

  const DeviceRef device_;
  const std::shared_ptr<CodeSource> source_;
  const Checks checked_;
  const OwnedBytes bytes_;
  mutable std::once_flag read_once_;
  mutable Result<metallib::Library> read_;
  mutable std::vector<Kernel> kernels_;
};

}  // namespace smelt::loader
