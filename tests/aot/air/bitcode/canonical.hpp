// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A module as text that two equal modules share: what is compared, and after which normalisations, is this file.
// The list is explained in docs/design/bitcode-writer.md 9; keep the two together.
#pragma once

#include "smelt/base/bytes.hpp"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <string>

namespace smelt::test {

struct Canonical {
  bool keep_debug = false;   ///< else debug info is stripped first
  bool turn_blocks = false;  ///< all blocks but the entry are in reverse order: turn them back
  bool older_flags = false;  ///< drop the flags and attributes that LLVM 14 has no place for
};

/// The module itself is normalised on the way. Verifies it; empty with a message when it is not valid.
std::string canonical_text(llvm::Module& module, const Canonical& options = {});

/// Reads bitcode into `context`; null with a message on stderr when LLVM 19 cannot.
std::unique_ptr<llvm::Module> read_19(ByteView bitcode, llvm::LLVMContext& context);
/// The same for assembly text.
std::unique_ptr<llvm::Module> parse_19(std::string_view text, llvm::LLVMContext& context);

/// "" when equal, else the first line that differs, from both sides.
std::string first_difference(const std::string& wanted, const std::string& found);

}  // namespace smelt::test
