// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the record that a launch's code has left (smelt_cpu_fault) to what people read.
#pragma once

#include "smelt/loader/findings.hpp"

#include "cpu_device.hpp"

namespace smelt::loader {

/// A variable of the kernel in threadgroup memory.
struct ThreadgroupVariable {
  uint64_t offset = 0;  ///< from the beginning of threadgroup memory
  uint64_t bytes = 0;
  std::string_view name;  ///< its text lives as long as the code
  std::string title() const { return fmt::format("threadgroup variable '{}'", name); }
};
/// Reads the list of variables that checked code has (smelt_cpu_fault::variables). A null text lists none.
std::vector<ThreadgroupVariable> threadgroup_variables(const char* text);

/// An access outside of memory, of code that is not checked; or what is no access.
tl::unexpected<Error> faulted(const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch,
                              const smelt_cpu_fault& fault);

/// An access outside of memory, of checked code, which alone knows its place.
Finding finding_of(const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch, const smelt_cpu_fault& fault);

}  // namespace smelt::loader
