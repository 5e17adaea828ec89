// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The function list, before its offsets have been followed.
#pragma once

#include "tags.hpp"

namespace smelt::metallib {

/// What a function's tags say about the rest of the file.
struct Links {
  uint64_t at = 0;  ///< file offset of the function's group, for messages
  uint64_t public_offset = 0, private_offset = 0, module_offset = 0;
  std::optional<uint64_t> module_size, source_offset, reflection_offset;
};

struct FunctionList {
  std::vector<Function> functions;
  std::vector<Links> links;  ///< by function
};

/// `list` spans count and groups; `at` is its file offset.
Result<FunctionList> read_function_list(ByteView list, uint64_t at);

/// "function 3 'saxpy'", for messages.
std::string describe(const Function& function, size_t index);

}  // namespace smelt::metallib
