// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Metal/MTLLibrary.hpp"
#include "compiler.hpp"

namespace smelt::metal {

/// What `options` (null: Metal's defaults) ask for. `unsupported` for a dynamic library, `invalid_argument` for a
/// language version that there is not.
Result<SourceRequest> source_request(std::string text, const MTL::CompileOptions* options);

}  // namespace smelt::metal
