// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two kernels of one name run on the same inputs, and what they leave in their buffers compared.
//
// Inputs are made from the kernels' reflection: buffers of their element types, structures by their members, integers
// small enough to be counts and indexes. They are random with a fixed seed, the same for both sides and in every run.
// Where that leads a kernel out of its buffers, checked code says so, and the launch is not compared.
#pragma once

#include "smelt/aot/kernel_info.hpp"
#include "smelt/loader/device.hpp"
#include "smelt/loader/library.hpp"

#include "diff/deviation.hpp"
#include "library_images.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smelt::cli {

struct LaunchOutcome {
  loader::Size3 threads, group;
  std::string not_compared;  ///< why not; empty: both sides ran
};

struct NumberReport {
  std::string not_run;  ///< why no launch could be compared; empty: at least one was
  std::vector<LaunchOutcome> launches;
  std::vector<Deviation> deviations;
  /// A launch that only one side could finish: which, and what became of the other.
  std::vector<std::string> one_sided;
};

class NumberComparison {
 public:
  /// Makes checked CPU code of the functions `names`, which both libraries have. Through the store when `use_store`.
  static Result<NumberComparison> make(const LibraryImage& a, const LibraryImage& b, std::span<const std::string> names,
                                       bool use_store);

  /// Runs a kernel of both sides; what goes wrong is in the report.
  NumberReport compare(const aot::KernelInfo& a, const aot::KernelInfo& b) const;

 private:
  loader::DeviceRef device_;
  loader::LibraryRef a_, b_;
};

}  // namespace smelt::cli
