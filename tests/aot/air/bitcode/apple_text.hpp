// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What llvm-dis-14 prints of a module, taken apart for comparison with Apple's own.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::test {

struct AppleText {
  std::map<std::string, int> opcodes;        ///< instructions by opcode, without pointer-to-pointer bitcasts
  std::vector<std::string> declarations;     ///< `declare` lines, attribute groups spelled out, sorted
  std::vector<std::string> attributes;       ///< of each definition, by name, spelled out
  std::vector<std::string> call_attributes;  ///< callee and attributes of each call, sorted
  std::vector<std::string> metadata;         ///< named nodes and nodes, in order
};

/// Normalised: the `.0` that LLVM puts behind a struct name that it met before, and the pointer type of a function
/// referred to by metadata (its pointees are ours to choose).
AppleText take_apart(const std::string& text);

}  // namespace smelt::test
