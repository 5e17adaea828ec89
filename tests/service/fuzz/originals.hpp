// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of Metal libraries that others built, each cut from its library.
#pragma once

#include "smelt/metallib/writer.hpp"

#include <random>
#include <string>
#include <vector>

namespace smelt::test {

struct Original {
  std::string name;
  metallib::Library library;  ///< of this function alone
  ByteView module;            ///< its bitcode; lies in the library
};

/// The functions with at most `most` bytes of bitcode of the libraries at the paths or below them; each module once,
/// small ones first.
std::vector<Original> read_originals(const std::vector<std::string>& paths, size_t most);

/// Small ones often and large ones sometimes: as often as their size is small, so that each gets about the same time.
const Original& draw(const std::vector<Original>& originals, std::mt19937_64& random);

}  // namespace smelt::test
