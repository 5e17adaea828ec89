// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace smelt::bench {

/// All groups of rows one after the other, each in processes of its own; a group that cannot run says what it lacks.
/// The exit status.
int run_groups(const std::string& rounds);

}  // namespace smelt::bench
