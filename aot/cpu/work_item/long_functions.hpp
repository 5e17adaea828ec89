// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel is one function, as that is what lanes and regions understand; but a chain of large helpers with a few calls
// each (products in the towers of fields that elliptic curves are over) would fill gigabytes. Above a limit the helpers
// that only compute stay functions, and the threads call them one by one.
#pragma once

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace smelt::aot::cpu {

/// Marks the helpers that stay where the module would be too long without calls. After keep_recursion.
void keep_long_functions(llvm::Module& module);

bool is_long_function(const llvm::Function& function);
bool has_long_functions(const llvm::Module& module);

}  // namespace smelt::aot::cpu
