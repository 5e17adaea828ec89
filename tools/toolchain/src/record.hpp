// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sources that a debugger is to see (-frecord-sources): from the compiler by way of the object into the library.
//
//   object    what it is without, then  "SMLTSRC1" | u64 size of the archive | archive
//   library   docs/formats/metallib.md 9: a list of archives, and each function's place in it
//
// The object's way is ours: what Apple's tools do there is not known. Readers of bitcode do not look behind the module
// that the wrapper places.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/result.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace smelt::toolchain {

struct CompileRecord {
  std::string command;  ///< the compiler's words, as a shell would read them
  std::string object;   ///< its output
  /// Path and bytes; paths are made absolute.
  std::vector<std::pair<std::string, ByteView>> files;
};

/// The archive of one compile: its options, folder and files, as a tar in bzip2. Deterministic. Errors: io.
Result<Bytes> pack_sources(const CompileRecord& record);

Bytes with_sources(Bytes object, ByteView archive);

/// What with_sources was given. Of any other file the whole is the object. Errors: truncated for an archive that ends
/// early.
struct ObjectParts {
  ByteView object;
  std::optional<ByteView> archive;
};
Result<ObjectParts> object_parts(ByteView file, std::string_view name);

/// The library with the archives of those of its functions that have one. The command line is the linker's.
Result<Bytes> attach_sources(ByteView library, const std::string& command,
                             const std::map<std::string, ByteView>& of_function);

/// The library without sources; one that has none as it is. Errors are those of reading it.
Result<Bytes> without_sources(ByteView library);

/// The other way: archives by function. Empty for a library without; errors are those of reading it.
Result<std::map<std::string, ByteView>> sources_of_library(ByteView library);

}  // namespace smelt::toolchain
