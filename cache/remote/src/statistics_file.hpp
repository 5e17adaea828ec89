// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts of all processes that used a store, one line a remote, in the store folder's file `remotes`. Private to
// remote.
#pragma once

#include "smelt/remote/remotes.hpp"

#include <filesystem>

namespace smelt::remote {

/// Adds them, under the file's lock. Counts are no truth that anything stands on: trouble is passed over.
void add_statistics(const std::filesystem::path& folder, const std::vector<RemoteCount>& counts);

}  // namespace smelt::remote
