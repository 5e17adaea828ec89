// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IR to symbolic records. Decisions and the table of which use wants which type: docs/design/bitcode-writer.md sections
// 2 and 3.
#pragma once

#include "bitcode/typed_module.hpp"

namespace smelt::aot::bitcode {

struct LowerOptions {
  bool below_air_2_6 = false;
  bool expand_constants = false;
  bool keep_debug = false;
  bool reverse_blocks = false;
};

struct LowerStatistics {
  uint32_t views = 0, constant_views = 0, expanded_constants = 0;
};

/// The module must outlive the result, which points into it.
Result<std::unique_ptr<TypedModule>> lower(const llvm::Module& module, const LowerOptions& options,
                                           LowerStatistics* statistics = nullptr);

}  // namespace smelt::aot::bitcode
