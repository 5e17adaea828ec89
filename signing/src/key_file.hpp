// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that say whom to trust, or who we are. Private to trust.
#pragma once

#include "smelt/base/bytes.hpp"

#include <sys/types.h>

#include <filesystem>
#include <string_view>

namespace smelt::signing {

/// All of the file, if it is what its owner alone decides on. `untrusted` when its mode has one of `forbidden` ("others
/// may ..."), and with `ours` also when it is neither this user's nor root's. What is read is what was looked at.
Result<Bytes> read_key_file(const std::filesystem::path& file, mode_t forbidden, std::string_view others_may,
                            std::string_view remedy, bool ours);

}  // namespace smelt::signing
