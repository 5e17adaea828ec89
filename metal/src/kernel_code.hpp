// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CPU code for a pipeline that somebody waits for: what is ready soonest, and better code later if it runs often.
#pragma once

#include "smelt/loader/library.hpp"

#include "compiler.hpp"
#include "device_object.hpp"

namespace smelt::metal {

/// What SMELT_CPU_EFFORT says, empty when it is not set.
std::string asked_effort();

/// The library of the request's kernel, whose effort is not looked at: exactly what SMELT_CPU_EFFORT asks for, else
/// what the store has, else fast code. Fast code of a kernel that runs often is replaced by balanced code, made in the
/// background, unless SMELT_CPU_REPLACE is 0. `owner` keeps request.metallib. Errors: those of compiled_kernel.
Result<loader::LibraryRef> library_of(const DeviceObject& device, KernelRequest request,
                                      const std::shared_ptr<const void>& owner);

}  // namespace smelt::metal
