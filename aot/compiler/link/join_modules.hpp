// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finished AIR modules to one, by LLVM's linker. Private to compiler..
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/result.hpp"

#include "kernel_ir/kernel_module.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace smelt::aot {

/// Tables, threadgroup memory and the storage of function constants that modules have in common stay one: they are of
/// one source. Other local names give way.
class ModuleJoiner {
 public:
  ModuleJoiner();
  ~ModuleJoiner();
  /// One module more; `name` is for messages. Errors: those of reading it; compile_failed when a symbol is there twice.
  Result<void> add(ByteView bitcode, std::string_view name);
  bool is_empty() const { return !whole_.module; }
  /// All of them. Nothing can be added then.
  Result<KernelModule> finish();

 private:
  KernelModule whole_;
  std::shared_ptr<std::string> message_;
};

}  // namespace smelt::aot
