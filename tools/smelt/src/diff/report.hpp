// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `smelt diff` has to say, as JSON; the text for people and the page are made from the same values
// (docs/reference/cli.md names the keys that others may rely on).
//
// scripts/compare-with-apple asks something else of two libraries: how good the code of two compilers is. It counts in
// LLVM 14's text, where pointers have types; here equal code is to be told from other code, in LLVM 19's. They have
// nothing in common but the pairing by name.
#pragma once

#include "inspect_report.hpp"
#include "page/page.hpp"

#include <optional>
#include <string>
#include <vector>

namespace smelt::cli {

/// Which kernels are run on both sides.
enum class RunKernels : uint8_t {
  none,
  changed,  ///< those whose code differs: equal code computes equal numbers
  all,
};

struct DiffOptions {
  std::string name_a, name_b;          ///< of the files, for the report
  std::string target;                  ///< the one to compare; empty: all
  std::vector<std::string> functions;  ///< these alone; empty: all
  RunKernels run = RunKernels::changed;
  size_t most_lines = 400;  ///< of a function's diff
  bool use_store = true;    ///< for CPU code
};

/// Compares the Metal libraries of two files, target by target. Errors: a file that cannot be read, a target that
/// neither has (invalid_argument), a function of `functions` that neither has (function_not_found).
Result<Json> report_differences(ByteView a, ByteView b, const DiffOptions& options);

/// The report as lines for people; at most so many lines of code for each function.
std::string differences_as_text(const Json& report, size_t most_lines);
/// The report as a page, on which a function's differences are drawn when it is opened.
Page differences_as_page(Json report);

}  // namespace smelt::cli
