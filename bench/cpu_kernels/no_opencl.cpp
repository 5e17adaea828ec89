// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Built where there is no OpenCL to compare with.
#include "opencl.hpp"

namespace smelt::bench {

std::unique_ptr<OpenCl> OpenCl::open() {
  return nullptr;
}

}  // namespace smelt::bench
