// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IR that is AIR already: Apple's, ours, or another back end's before it writes metadata.
#include "interface/entry.hpp"
#include "ir/dialect.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot::input {
bool is_air(const llvm::Module& module) {
  if (air::has_entries(module) || module.getNamedMetadata("air.version")) return true;
  if (llvm::StringRef(module.getTargetTriple()).starts_with("air")) return true;
  for (const llvm::Function& function : module)
    if (function.isDeclaration() && function.getName().starts_with("air.")) return true;
  return false;
}

Result<void> read_air(KernelModule& input, const Origin& origin, const InputOptions& options) {
  // Complete entries decide; names on the command line then choose nothing more.
  const bool has_entries = air::has_entries(*input.module);
  lower_air_calls(*input.module, has_entries);
  if (has_entries) {
    if (options.missing_kernels) *options.missing_kernels = options.kernels;
    return {};
  }
  return mark_kernels(*input.module, origin, options);
}

}  // namespace smelt::aot::input
