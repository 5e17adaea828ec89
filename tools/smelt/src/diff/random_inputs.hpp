// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contents for a kernel's buffers and values for its constants, from a seed.
#pragma once

#include "smelt/aot/kernel_info.hpp"
#include "smelt/loader/constants.hpp"

#include <cstdint>
#include <random>

namespace smelt::cli {

/// What numbers are like in one launch.
struct InputStyle {
  uint64_t seed = 0;
  float low = 0.25F, high = 2;  ///< of floating-point numbers
  uint32_t count = 4;           ///< about what an integer argument is
  bool flag = false;            ///< of boolean function constants
  bool indexes = false;         ///< bytes of unknown type are integers below 32
};

/// `bytes` bytes for the buffer. Floating-point numbers lie in the style's range. Integers of constant memory are
/// counts or, with 64 bits, multiples of 64, which strides in bytes have to be; those of device memory are indexes
/// below 32. Where the type is unknown, the bytes make sense as float and as half.
Bytes random_contents(const aot::ArgumentInfo& argument, const InputStyle& style, size_t bytes);

/// A value of the constant's type; nothing for a type without values.
std::optional<loader::ConstantValue> random_constant(const aot::ConstantInfo& constant, const InputStyle& style);

}  // namespace smelt::cli
