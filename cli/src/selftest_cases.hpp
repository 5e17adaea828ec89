// What `smelt selftest` runs: a kernel, its inputs, and what must come out, computed here in plain C++.
#pragma once

#include "smelt/loader/types.hpp"

#include <functional>
#include <string>
#include <vector>

namespace smelt::cli {

/// How a result buffer is compared.
enum class ResultType : uint8_t { u32, f32, f16 };

struct SelftestCase {
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
std::vector<SelftestCase> selftest_cases();

/// The largest difference, in the unit of `tolerance`; infinity where only one side is a number.
double difference(const SelftestCase& one, ByteView found, ByteView wanted);

}  // namespace smelt::cli
