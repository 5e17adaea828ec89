// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which metadata a bitcode module has, and which its records name.
//
// LLVM's reader trusts the numbers: what does not exist it looks for behind the end of its tables, or for ever. Numbers
// count strings, values and nodes of the module, then those of the function at hand.
#pragma once

#include "smelt/base/result.hpp"

#include <cstdint>
#include <vector>

namespace smelt::aot {

class MetadataNumbers {
 public:
  void enter_function() { of_function_ = 0; }
  /// A METADATA_BLOCK, or a METADATA_ATTACHMENT block of a function.
  void enter_block(bool in_function);

  /// A record of a METADATA_BLOCK, with all its operands.
  void add(uint64_t code, const std::vector<uint64_t>& operands);
  /// A record of a METADATA_ATTACHMENT block.
  void add_attachments(const std::vector<uint64_t>& operands);

  /// At the block's end, where all that it may name has been read. `corrupt` when it names more; `at`: its place.
  Result<void> check(uint64_t at) const;

 private:
  void name(uint64_t number_or_null) { highest_ = highest_ < number_or_null ? number_or_null : highest_; }
  void name_at(uint64_t number) { name(number == ~uint64_t{0} ? number : number + 1); }
  void attachments(const std::vector<uint64_t>& operands, size_t first);
  void debug_info(uint64_t code, const std::vector<uint64_t>& operands);

  uint64_t of_module_ = 0;
  uint64_t of_function_ = 0;
  uint64_t highest_ = 0;  // of the block, one more than the number; 0: none
  bool in_function_ = false;
};

}  // namespace smelt::aot
