// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Metal source may include, found without a compiler: for keys (a store's entry must change with every file that
// it was made from) and for build systems. Over-approximates: a directive counts whatever #if it stands in.
#pragma once

#include "smelt/base/bytes.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace smelt::aot::msl {

struct IncludedFile {
  std::string path;
  Bytes bytes;
};

struct Includes {
  std::vector<IncludedFile> files;   ///< each once, in the order of discovery
  std::vector<std::string> missing;  ///< names that lead to no file and are not of the standard library
};

/// Where Clang looks: for "x.h" next to the including file, in `quoted`, in `all`; for <x.h> in `all` alone.
struct IncludeFolders {
  std::vector<std::string> quoted, all;
};

/// Follows #include, #import and __has_include through files.
/// String literals in #define lines count too: some are included by macro.
/// `forced` are included ahead of the text, as from the working directory.
Includes scan_includes(std::string_view text, std::string_view name, const IncludeFolders& folders,
                       const std::vector<std::string>& forced = {});

/// What Clang puts in front of the relative `name` of a source, and line tables, messages and __FILE__ leave out again,
/// of included files too: the current folder and a slash. Empty for an absolute name.
std::string hidden_prefix(std::string_view name);

/// The source without comments, and with blanks only where they matter: the same text means the same code.
std::string without_comments(std::string_view text);

}  // namespace smelt::aot::msl
