// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Test cases as text: a .ll file holds several modules, each with what must come out of it.
//
//   ;;; name of the case
//   ; target: macos14 ios26         targets to try, all with the same outcome (default macos14)
//   ; stop: split_values            last pass to run (default: all)
//   ; option: fast_math             also: relaxed_atomics cpu_only pack_scalars no_overlap threadgroup_memory=N
//                                 threads=N
//   ; expect: text                  must be in the result, in this order
//   ; never: text                   must not
//   ; error: text                   legalising must fail with a message that has this
#pragma once

#include "legalise/legalise.hpp"

#include <string>
#include <vector>

namespace smelt::test {

struct Case {
  std::string file, name, ir, stop;
  std::vector<std::string> targets, expected, forbidden, errors;
  aot::air::LegaliseOptions options;
};

/// Of all .ll files in tests/aot/air/cases, sorted by file name. Throws on a directive that it does not know.
std::vector<Case> read_cases();

}  // namespace smelt::test
