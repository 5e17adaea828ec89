// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutants of Metal libraries of one function: of the container, of the module's bits, of its records, of what it means.
#pragma once

#include "originals.hpp"

namespace smelt::test {

struct Mutant {
  std::string story;     ///< what was done to which function
  std::string function;  ///< its name, as it was
  Bytes file;            ///< a library, as far as it is one
  Bytes module;          ///< what the file has as bitcode
};

/// The mutant of that number: the same for the same originals.
Mutant make_mutant(const std::vector<Original>& originals, uint64_t number);

}  // namespace smelt::test
