// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Apple's modules out of the metallibs beside the checkout and in the fetched corpus.
#pragma once

#include "smelt/base/bytes.hpp"

#include <string>
#include <vector>

namespace smelt::test {

struct AppleModule {
  std::string name;  ///< first 16 digits of its SHA-256, and the library that it was first met in
  Bytes bitcode;     ///< raw, from "BC" C0 DE on
};

/// Every distinct module (by SHA-256), in order of library name. Found by the wrapper's magic, so that this does not
/// depend on the reader of containers. Empty where neither folder exists.
std::vector<AppleModule> apple_modules();

}  // namespace smelt::test
