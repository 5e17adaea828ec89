// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Metal libraries in a file, whatever holds them: for verbs that look at code.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/metallib/inspect.hpp"
#include "smelt/metallib/library.hpp"

#include <string>
#include <vector>

namespace smelt::cli {

struct LibraryImage {
  std::string library;  ///< its name in a package; else empty
  std::string target;   ///< "macos14"; of a universal file with the place: "macos14, slice 1 (...)"
  ByteView bytes;
  metallib::Library contents;
  metallib::LibraryFacts facts;
};

/// "macos14", "ios18-simulator": platform and major version, as targets are called. Old containers name no platform.
std::string target_name(const metallib::LibraryFacts& facts);

/// Those of a Metal library, a universal file or a package, in the file's order; they borrow its bytes. Hashes of
/// functions are not checked. A file without any is an error: not_metallib, or empty_library for a package that has CPU
/// code alone.
Result<std::vector<LibraryImage>> library_images(ByteView file);

}  // namespace smelt::cli
