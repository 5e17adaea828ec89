// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library of the system that is opened by name when something needs it: what few calls use costs the start of no
// other.
#pragma once

#include <string>

namespace smelt {

/// Stays open for the process's whole life. Any thread.
class SharedLibrary {
 public:
  /// `name` as the dynamic linker takes it, e.g. "libcurl.so.4".
  explicit SharedLibrary(const char* name);

  /// Null when it has no such function, or could not be opened; trouble() then says why.
  template <class Function>
  Function find(const char* name) {
    return reinterpret_cast<Function>(find_address(name));
  }

  /// Why it, or the first function that was missed, could not be had; empty when all is well.
  const std::string& trouble() const { return trouble_; }

 private:
  void* find_address(const char* name);

  void* handle_ = nullptr;
  std::string trouble_;
};

}  // namespace smelt
