// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A child of smelt-compile-child: one job, and the end.
#pragma once

#include "filter.hpp"

#include <cstdint>

namespace smelt::service {

/// The child's life from the moment it has its job's socket. Its descriptors are the socket and nothing else; limits
/// and filter are there before a byte of the input is looked at. `mapped`: the address space that is not the job's.
[[noreturn]] void serve(int socket, uint64_t mapped, scmp_filter_ctx filter);

}  // namespace smelt::service
