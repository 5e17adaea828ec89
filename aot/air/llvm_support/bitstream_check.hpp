// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What must hold of LLVM bitcode before LLVM sees it.
//
// LLVM's bitcode reader is not made for hostile input: some structural faults end the process (report_fatal_error), and
// some counts size an allocation before anything is read. This walk goes through the whole bitstream once, checks every
// bound itself, and refuses those. It does not judge what records mean; that stays with LLVM's reader and verifier.
//
//   file        [wrapper: 0x0B17C0DE, version, offset, size, cpu type]  'B' 'C' 0xC0DE  block*
//   block       ENTER_SUBBLOCK, block id vbr8, abbreviation width vbr4, align 32, length in words u32, items, END,
//   align 32 item        a block, DEFINE_ABBREV, or a record (unabbreviated, or by abbreviation)
#pragma once

#include "smelt/base/bytes.hpp"

#include <string>

namespace smelt::aot {

constexpr size_t kMaxBitcodeBytes = size_t{256} << 20;

struct BitcodeFacts {
  ByteView bitcode;      ///< without the wrapper; a view into what was checked
  std::string producer;  ///< of the IDENTIFICATION block, e.g. "LLVM22.1.8"; empty before LLVM 3.8 and in Apple's
  std::string triple;    ///< the module's target, its first 256 letters; empty when it names none
  uint64_t records = 0;
};

/// `corrupt`, `truncated` or `unsupported`, with the place as "bit N" of the file.
Result<BitcodeFacts> check_bitstream(ByteView file);

}  // namespace smelt::aot
