// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The real libraries that tests read: tests/data/metallibs and, when fetched, the npm corpus.
#pragma once

#include "files.hpp"

#include <filesystem>
#include <vector>

namespace smelt::test {

/// The small fixtures (up to 88 KB, containers 1.2.5 to 1.2.9); empty with a message when they are absent.
std::vector<std::filesystem::path> fixtures();
/// The npm corpus (12 files, 3.5 to 6.5 MB, tool dialect); empty with a message when absent.
std::vector<std::filesystem::path> corpus_files();
/// Both.
std::vector<std::filesystem::path> real_files();

}  // namespace smelt::test
