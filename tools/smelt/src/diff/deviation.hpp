// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far apart two buffers are.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/loader/types.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace smelt::cli {

/// How far a buffer of B is from that of A after a launch.
struct Deviation {
  size_t launch = 0;
  uint32_t buffer = 0;
  std::string argument;            ///< its name
  std::string type;                ///< of the elements as they were read; "byte" where that is not known
  uint64_t elements = 0;           ///< of the buffer
  uint64_t different = 0;          ///< of them; two NaNs are the same
  uint64_t not_numbers = 0;        ///< of these, NaN or infinite on one side at least
  uint64_t at = 0;                 ///< where both are furthest apart; of integers the first place
  std::string a, b;                ///< the values there
  std::optional<uint64_t> ulps;    ///< the largest distance, of floating-point types
  std::optional<double> relative;  ///< the largest relative error, of what is not zero in A
};

/// The contents of two buffers of one size whose elements are of that Metal type; of a type that says nothing (a
/// structure, the char of untyped pointers) floats where all that differs looks like floats, else bytes. The fields up
/// to `argument` are the caller's.
Deviation deviation_of(ByteView a, ByteView b, std::string_view type_name);

}  // namespace smelt::cli
