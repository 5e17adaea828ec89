// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bitcode as a tree of records. What is written from it is a sound bitstream whatever the records say, so that hostile
// values get past the layer that reads bits and to the readers of metadata, types, constants and instructions.
#pragma once

#include "smelt/base/bytes.hpp"

#include <random>
#include <string>
#include <vector>

namespace smelt::test {

struct BitcodeNode {
  bool is_block = false;
  unsigned id = 0;                 ///< of a block, or the record's code
  std::vector<uint64_t> operands;  ///< of a record
  std::string blob;                ///< likewise, of some
  bool has_blob = false;
  std::vector<BitcodeNode> children;  ///< of a block
};

/// Errors: what LLVM's bitstream cursor says. Block infos, and offsets into the stream, which would be wrong
/// afterwards, are left out.
Result<std::vector<BitcodeNode>> read_records(ByteView bitcode);
Bytes write_records(const std::vector<BitcodeNode>& blocks);

/// Changes a few records, half of the time of metadata; says how.
std::string change_records(std::vector<BitcodeNode>& blocks, std::mt19937_64& random);

}  // namespace smelt::test
