// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the record that a launch's code has left (smelt_cpu_fault) to what people read.
#pragma once

#include "smelt/loader/findings.hpp"

#include "cpu_device.hpp"

namespace smelt::loader {

/// An access outside of memory, of code that is not checked; or what is no access.
tl::unexpected<Error> faulted(const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch,
                              const smelt_cpu_fault& fault);

/// An access outside of memory, of checked code, which alone knows its place.
Finding finding_of(const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch, const smelt_cpu_fault& fault);

}  // namespace smelt::loader
