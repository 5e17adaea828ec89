// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a vertex or fragment function gets besides bindings, and what it gives: from front ends to air/, as text in an
// attribute of the parameter (kStageInput) or of the function (kResults).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smelt::aot::kernel_ir {

struct StageValue {
  /// AIR's, in the order of its node, the kind first: "air.fragment_input", "user(uv)", "air.center", ...; "#3" is the
  /// number 3, what stands between "(" and ")" a node inside, "@f" the function f, "@" none.
  std::vector<std::string> words;
  std::string type_name;    ///< "float4"; empty: the words say all
  std::string name;         ///< empty: a result that is no member of a structure
  std::string condition{};  ///< it exists when this is true: a function constant's index, or a predicate's name
  bool operator==(const StageValue&) const = default;
};

/// Of the words alone, and back.
std::string words_to_text(const std::vector<std::string>& words);
std::vector<std::string> parse_words(std::string_view text);

std::string to_text(const std::vector<StageValue>& values);
/// Of text that to_text() made; a line of any other text is passed over.
std::vector<StageValue> parse_stage_values(std::string_view text);

}  // namespace smelt::aot::kernel_ir
