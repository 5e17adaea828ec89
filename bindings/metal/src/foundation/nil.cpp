// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file of its own: a compiler that saw this together with a caller would know that `this` is never null.
#include "foundation/nil.hpp"

namespace smelt::metal {

bool is_nil(const void* object) {
  return object == nullptr;
}

}  // namespace smelt::metal
