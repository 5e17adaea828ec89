// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packages that nobody should have made.
#pragma once

#include "smelt/schema/package.hpp"

#include <random>

namespace smelt::test {

/// The package's first library under two names, with versions, tags and attachments.
std::vector<schema::Library> sound_libraries(ByteView package);

/// A package with changed bytes, half of the time with its hashes put right as a forger would; or one that was written
/// soundly from `sound` with hostile values. The same random numbers give the same bytes.
Bytes hostile_package(const std::vector<Bytes>& seeds, const std::vector<schema::Library>& sound,
                      std::mt19937_64& random);

}  // namespace smelt::test
