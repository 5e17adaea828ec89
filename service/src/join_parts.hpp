// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Libraries of single kernels to the library of all of them. Private to service.
#pragma once

#include "smelt/aot/target.hpp"
#include "smelt/schema/manifest.hpp"

#include <vector>

namespace smelt::service {

/// `parts` is not empty, and all were made for the same slices: a Metal library for each of `targets`, then CPU code;
/// `corrupt` when they were not. The name is the first part's.
Result<schema::Library> join_parts(const std::vector<aot::Target>& targets,
                                   const std::vector<const schema::Library*>& parts);

}  // namespace smelt::service
