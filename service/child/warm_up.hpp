// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel of our own, compiled so that the next compile finds set up what LLVM sets up at its first use.
#pragma once

#include "smelt/aot/cpu.hpp"
#include "smelt/base/bytes.hpp"

namespace smelt::service {

class WarmUp {
 public:
  /// From IR, and once more from the Metal library that comes of it.
  void run();
  /// From that library; nothing before run().
  void run_again(aot::CpuEffort effort) const;

 private:
  Bytes library_;
};

}  // namespace smelt::service
