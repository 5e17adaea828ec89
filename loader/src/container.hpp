// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the loader needs to know of a plain metallib. Bitcode is not looked into.
#pragma once

#include "smelt/loader/library.hpp"

namespace smelt::loader {

struct ContainerFunction {
  std::string name;
  FunctionKind kind = FunctionKind::kernel;
  Version metal;
  Version air;
  struct Constant {
    std::string name;
    std::string type_name;
    uint32_t index = 0;
  };
  std::vector<Constant> constants;
};

struct ContainerInfo {
  Target target;
  std::vector<ContainerFunction> functions;  ///< file order
};

/// Errors: not_metallib (says what it looks like instead), truncated, corrupt, format_newer.
Result<ContainerInfo> read_container(ByteView bytes, Verify verify);

}  // namespace smelt::loader
