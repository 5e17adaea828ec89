// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the self-test runs: a kernel, its inputs, and what must come out, computed here in plain C++.
#pragma once

#include "smelt/loader/types.hpp"

#include <functional>
#include <string>
#include <vector>

namespace smelt::selftest {

/// How a result buffer is compared.
enum class ResultType : uint8_t { u32, f32, f16 };

struct Case {
  std::string kernel;
  std::string about;
  loader::Size3 threads;
  loader::Size3 group;
  int rank = 1;
  std::vector<Bytes> buffers;  ///< initial contents; bound to 0, 1, ...
  uint32_t result = 0;         ///< which buffer holds the result
  ResultType type = ResultType::f32;
  double tolerance = 0;  ///< relative to the largest magnitude expected; 0: the same bits
  Bytes expected;
};

/// Always the same cases.
std::vector<Case> cases();

/// The largest difference, in the unit of `tolerance`; infinity where only one side is a number.
double difference(const Case& one, ByteView found, ByteView wanted);

}  // namespace smelt::selftest
