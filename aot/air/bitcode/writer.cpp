// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bitcode/writer.hpp"

#include "bitcode/check.hpp"
#include "bitcode/emit.hpp"
#include "bitcode/lower.hpp"

#include <chrono>

namespace smelt::aot::bitcode {
namespace {

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

}  // namespace

Result<Bytes> write_bitcode(const llvm::Module& module, const WriteOptions& options, WriteStatistics* statistics) {
  LowerOptions lowering;
  lowering.below_air_2_6 = options.air < Version{2, 6, 0};
  lowering.expand_constants = options.expand_constants.value_or(options.air >= Version{2, 7, 0});
  lowering.keep_debug = options.keep_debug;
  lowering.reverse_blocks = options.reverse_blocks;

  auto start = Clock::now();
  LowerStatistics counts;
  SMELT_TRY(const auto typed, lower(module, lowering, &counts));
  const double lower_us = microseconds_since(start);

  start = Clock::now();
  SMELT_TRY_VOID(check_types(*typed));
  const double check_us = microseconds_since(start);

  start = Clock::now();
  Bytes bytes = emit(*typed, options.wrap);
  if (statistics) {
    *statistics = {static_cast<uint32_t>(typed->records.size()),
                   counts.views,
                   counts.constant_views,
                   counts.expanded_constants,
                   lower_us,
                   check_us,
                   microseconds_since(start)};
  }
  return bytes;
}

}  // namespace smelt::aot::bitcode
