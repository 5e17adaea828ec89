// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two functions' AIR as text, compared: what is left when numbers are taken for what they stand for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::cli {

/// Lines that one text has and the other has not.
struct CodeDiff {
  size_t removed = 0;   ///< lines of A alone, of metadata only when nothing else differs
  size_t added = 0;     ///< the same of B
  size_t metadata = 0;  ///< of both, lines that differ in what metadata or attributes they name alone
  /// A unified diff of these with three lines around each change. Each line begins with ' ', '-' or '+'; "@@ A B @@"
  /// stands before each stretch, with the numbers of its first lines. Lines of B have A's numbers where those stand for
  /// the same; "%b5" is the 5 of B, for which A has nothing.
  std::vector<std::string> lines;
  size_t left_out = 0;  ///< lines of the diff behind the `most` that were asked for

  bool equal() const { return removed == 0 && added == 0; }
};

/// Of two texts of aot::comparable_module. Values, metadata, attributes and unnamed globals (%5, !5, #5, @5) are equal
/// when each stands for the same on both sides, whatever its number. `most`: lines of the diff that are kept.
CodeDiff compare_code(std::string_view a, std::string_view b, size_t most);

}  // namespace smelt::cli
