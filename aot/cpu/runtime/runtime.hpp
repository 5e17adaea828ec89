// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU runtime: math and a few helpers written in branch-free C (runtime/*.c), compiled to bitcode when smelt is
// built, and inlined into every kernel. See docs/design/cpu-math.md for what each function promises.
#pragma once

#include "smelt/base/result.hpp"

#include <string_view>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace smelt::aot::cpu {

/// Prefix of every function of the runtime.
inline constexpr std::string_view kRuntimePrefix = "smelt_rt_";

/// What the names of those begin with that are texels in the kernel's own code.
inline constexpr std::string_view kInlineTexels = "smelt_rt_inline_texture_";

/// Marks a comparison of the runtime of which it matters only whether it is true for any lane. It may be true as well
/// where a row of numbers begins beyond 2^31 - 32, which no texture reaches.
inline constexpr char kRowTest[] = "smelt.row-test";

/// The declaration of runtime function `name` (without prefix) in `module`, made from the runtime's own type; null when
/// there is no such function. link_runtime gives it a body.
llvm::Function* declare_runtime(llvm::Module& module, std::string_view name);

/// Whether a function of the runtime stays one, and is called: those that look at textures.
bool stays_called(const llvm::Function& function);

/// Whether a linked runtime has left texels in the kernel's own code.
bool has_inline_texels(const llvm::Module& module);

/// Gives bodies to all `smelt_rt_*` declarations of `module`: internal, always-inline, without target attributes. May
/// be called again after more declarations were made.
Result<void> link_runtime(llvm::Module& module);

/// Puts instructions of AVX-512 in place of what the linked runtime spells out for every processor.
void use_wide_instructions(llvm::Module& module);

}  // namespace smelt::aot::cpu
