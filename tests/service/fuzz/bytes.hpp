// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Changes of bytes of which nothing is known.
#pragma once

#include "smelt/base/bytes.hpp"

#include <random>

namespace smelt::test {

/// A number that readers of sizes and offsets stumble over.
uint32_t hostile_word(std::mt19937_64& random);

/// Bits flipped, bytes and words set to telling values, pieces copied over others, an end cut off.
void change_bytes(Bytes& bytes, std::mt19937_64& random);

}  // namespace smelt::test
