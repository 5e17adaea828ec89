// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the record that a launch's code has left (smelt_cpu_fault) to what people read.
#pragma once

#include "smelt/loader/findings.hpp"

#include "cpu_device.hpp"

namespace smelt::loader {

/// Of the kernel's own, as checked code lists them (smelt_cpu_fault::variables).
struct ThreadgroupVariable {
  uint64_t offset = 0;  ///< from the begin of threadgroup memory
  uint64_t bytes = 0;
  std::string_view name;  ///< of the code
  std::string title() const { return fmt::format("threadgroup variable '{}'", name); }
};
/// None of a null text.
std::vector<ThreadgroupVariable> threadgroup_variables(const char* text);

/// An access outside of memory, of code that is not checked; or what is no access.
tl::unexpected<Error> faulted(const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch,
                              const smelt_cpu_fault& fault);

/// An access outside of memory, of checked code, which alone knows its place.
Finding finding_of(const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch, const smelt_cpu_fault& fault);

}  // namespace smelt::loader
