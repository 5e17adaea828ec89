// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which helpers of a kernel stay functions. Everything is inlined otherwise, and a chain of large helpers with a few
// calls each would grow with the power of its length.
#pragma once

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace smelt::aot::msl {

/// Whether it is so long that a second copy is longer than a call; to be asked when all that it calls is inlined.
bool is_large(const llvm::Function& function);

/// Whether it may stay: it is large, has two calls or more, and does nothing that only the kernel's own code can do.
/// What it calls is inlined, or stays itself and is marked.
bool may_stay(const llvm::Function& function);

/// Marks it as one that stays (kernel_ir::kKept).
void mark_kept(llvm::Function& function);
bool is_kept(const llvm::Function& function);

/// Takes the mark from those whose pointers of no space may be to other memory than the thread's: only the code around
/// a call tells. True when there was one: it is to be inlined, and then more may be known of the others.
bool drop_open_pointers(llvm::Module& module);

}  // namespace smelt::aot::msl
