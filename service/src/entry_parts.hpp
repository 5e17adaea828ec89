// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of entries that only the compiler makes and reads: their names, and how warnings are kept in one. kPackagePart
// (stored.hpp) is what a request made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smelt::service {

inline constexpr std::string_view kKernelPart = "kernel.smelt";  // one part of a plan
inline constexpr std::string_view kFilePart = "file";            // an object, or a library linked of some
inline constexpr std::string_view kWarningsPart = "warnings";    // that came with the other part: pack_warnings

/// Warnings as one text, each ended by a zero byte: a warning may have several lines, and has no zero byte.
std::string pack_warnings(const std::vector<std::string>& warnings);
/// The warnings of such a text; what stands behind the last zero byte is none.
std::vector<std::string> unpack_warnings(std::string_view text);

}  // namespace smelt::service
