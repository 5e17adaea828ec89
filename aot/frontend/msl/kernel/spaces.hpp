// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal's address spaces, as Clang numbers them for our target.
#pragma once

namespace smelt::aot::msl {

constexpr unsigned kThread = 0, kConstant = 2, kThreadgroup = 3;

}  // namespace smelt::aot::msl
