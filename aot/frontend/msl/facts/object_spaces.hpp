// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which variant of a method an object finds.
#pragma once

namespace clang {
class Sema;
}

namespace smelt::aot::msl {

/// Reports calls where Clang took a method for the thread's memory, of a name that has variants for other spaces or
/// says `thread`, and the object lies elsewhere. What Clang takes for another space is right (method_spaces.hpp); the
/// default space is what it also takes where nothing fits better. Looks at the user's code alone, instantiations
/// included.
void check_object_spaces(clang::Sema& sema);

}  // namespace smelt::aot::msl
