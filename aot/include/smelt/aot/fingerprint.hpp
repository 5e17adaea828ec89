// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys of compile requests: SHA-256 over length-prefixed fields of everything that can change the output.
//
// Two of them. The raw key is over the inputs' bytes as they are: it costs one pass over them and nothing is parsed.
// The normalised key is over what the inputs mean: another comment, blank, path, or line number in debug info that is
// not kept gives the same key. A store looks under the first, then under the second, and files under both.
#pragma once

#include "smelt/aot/compile.hpp"
#include "smelt/base/digest.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::aot {

/// Something else that shapes what is kept under the key: CPU levels, a package format. Order does not matter.
struct FingerprintField {
  std::string name;
  std::string value;
};

/// Names and folders of the sources do not count; their order does (it is the order of the functions). Options count
/// by value: targets and kernels as sets; threads and progress not at all.
Digest raw_fingerprint(std::span<const Source> sources, const CompileOptions& options,
                       std::span<const FingerprintField> more = {});

/// The inputs of the raw key as names and values, so that a message can say which of them changed. Names are unique; a
/// source or header is given by its SHA-256.
std::vector<FingerprintField> fingerprint_fields(std::span<const Source> sources, const CompileOptions& options,
                                                 std::span<const FingerprintField> more = {});

/// Reads the inputs; errors are those of compile(). Text and bitcode of one module need not have the same key.
Result<Digest> normalised_fingerprint(std::span<const Source> sources, const CompileOptions& options,
                                      std::span<const FingerprintField> more = {});

/// The files that Metal source includes, directly or not, as they would be found now; for build systems. A directive
/// counts whatever #if it stands in. Empty for other inputs.
std::vector<std::string> source_dependencies(const Source& source, const CompileOptions& options);

/// Whether the bytes are Metal source, which includes files.
bool is_metal_source(ByteView bytes);
/// Whether they are a Metal library, or one for several machines.
bool is_metal_library(ByteView bytes);

/// This compiler: version, SHA-256 of the sources it was built from, and LLVM. The same for every build type, folder
/// and machine. Part of both keys.
std::string_view compiler_identity();

/// What keys are made of besides a request, for those who compute them without this compiler (docs/formats/key.md). All
/// of it is static.
struct KeyFacts {
  std::string_view format;    ///< of the fields
  std::string_view compiler;  ///< compiler_identity()
  std::string_view headers;   ///< SHA-256 of the standard library's headers, in hex
  std::vector<std::string_view> header_names;
};
KeyFacts key_facts();

}  // namespace smelt::aot
