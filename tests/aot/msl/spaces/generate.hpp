// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random classes whose methods have variants for spaces, and calls of them, with what each call must give. What it must
// give is said by a model of Metal's rule that knows nothing of a compiler: an object finds the variants for its own
// space (a variant that names none is for the thread); of those, one that is not const where the object is not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace smelt::test {

struct SpacesProgram {
  std::string text;                ///< kernel `k`: buffer 0 takes what the calls gave, one int each
  std::vector<int32_t> expected;   ///< by the model
  std::vector<std::string> calls;  ///< as written, in the same order
  unsigned buffers = 1;            ///< of the kernel; those behind 0 hold zeros, kSpacesBytes each
  /// Programs that must be refused: the classes and one call that no variant takes.
  std::vector<std::string> refused;
};

inline constexpr unsigned kSpacesBytes = 4096;

SpacesProgram make_spaces_program(uint64_t seed);

}  // namespace smelt::test
