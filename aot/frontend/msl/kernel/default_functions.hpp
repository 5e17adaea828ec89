// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which variant of a float function a call means that names none (docs/formats/metal-language.md 3, "Which variant").
// The headers declare it as air.default_NAME, so that one precompiled file serves every math mode.
#pragma once

namespace llvm {
class Module;
}

namespace smelt::aot::msl {

/// air.default_NAME becomes air.fast_NAME if `fast`, else air.NAME. Run it before any pass that reads operations.
void choose_default_functions(llvm::Module& module, bool fast);

}  // namespace smelt::aot::msl
