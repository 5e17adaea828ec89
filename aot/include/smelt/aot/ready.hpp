// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace smelt::aot {

/// Does nothing where the compiler is part of the program. A program that opens it with the first call opens it now:
/// before a child is forked that can open nothing.
void be_ready();

}  // namespace smelt::aot
