// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a row and the suffix of a name to a signature: the row's suffix grammar binds T (or D, A, B, C) to types, then
// the row's signature text is read with these.
#pragma once

#include "ops/intrinsics_table.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace smelt::aot::air {

using NameParts = std::vector<std::string_view>;
NameParts split_name(std::string_view text, char separator);

/// What the suffix of a name says.
struct SuffixTypes {
  AirType t, a, b, c, d;
  uint8_t space = 0;        ///< of pT and pE
  bool instancing = false;  ///< the name has this tag
  std::string_view handle;  ///< "texture_2d" of sample_texture_2d
};

/// By the grammar of a row; nothing where the parts do not follow it.
std::optional<SuffixTypes> suffix_types(Suffix suffix, const NameParts& parts);
/// What can be read of a suffix that no row says.
SuffixTypes any_suffix_types(const NameParts& parts);

Signature read_signature(const Row& row, const SuffixTypes& types, std::string_view name);

}  // namespace smelt::aot::air
