// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Metal standard library's headers, precompiled when this library is built, for all users of a machine. Where the
// files are not, or are another build's, every user's cache folder gets them at his first compile.
#pragma once

#include "smelt/base/result.hpp"

#include <filesystem>

namespace smelt::aot {

/// Writes a file for the language of each known target; it serves every platform and math mode. Each has 12 MB and a
/// name that says compiler, headers and language. Errors: io, compile_failed.
Result<void> write_metal_headers(const std::filesystem::path& folder);

/// Packs these files in place, for a wheel: a first compile unpacks one into the user's cache folder. Errors: io.
Result<void> pack_metal_headers(const std::filesystem::path& folder);

}  // namespace smelt::aot
