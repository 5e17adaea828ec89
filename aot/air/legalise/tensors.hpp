// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt.tensor.* -> Apple's products, and memory that asks for its size. Kernel IR only.
#pragma once

#include "legalise/passes.hpp"

namespace smelt::aot::air {

Result<void> tensors(PassContext&);

}  // namespace smelt::aot::air
