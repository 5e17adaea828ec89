// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Library to bytes: the same library gives the same bytes, always. And libraries from nothing but modules.
#pragma once

#include "smelt/metallib/metadata.hpp"

#include <array>

namespace smelt::metallib {

/// Where everything of a library lies in its file.
struct Layout {
  struct Span {
    uint64_t offset = 0, size = 0;
  };
  std::array<Span, kSectionCount> sections{};  ///< by Section; the function list's includes count and extension
  uint64_t list_size = 0;                      ///< function list without count and extension
  std::vector<uint64_t> public_offsets, private_offsets, module_offsets;  ///< from their section's start
  std::vector<uint64_t> archive_offsets;                                  ///< from the sources' start to the first tag
  std::vector<uint64_t> reflection_offsets;                               ///< from the reflection list's start
  uint64_t file_size = 0;
  const Span& operator[](Section section) const { return sections[static_cast<size_t>(section)]; }
};

/// Errors: invalid_argument when the library cannot be expressed (an index without its thing, a payload past 65,535
/// bytes, ...). Whether it makes sense is for read() to say.
Result<Layout> layout_of(const Library& library);

/// A named stretch of a written file: "header.file_size", "function[0].MDSZ", "public[2].size". Values without a name
/// of their own are covered by what holds them.
struct Field {
  std::string path;
  uint64_t offset = 0;
  uint64_t size = 0;
};

/// `fields`, if given, receives all integers of the file that speak about the rest of it.
Result<Bytes> write(const Library& library, std::vector<Field>* fields = nullptr);

/// One function for make_library. Bytes are borrowed during the call only.
struct NewFunction {
  std::string name;
  FunctionType type = FunctionType::kernel;
  ByteView bitcode;  ///< LLVM bitcode, not wrapped; its length is a multiple of 4
  Versions versions;
  std::vector<Constant> constants;
  std::vector<VertexAttribute> vertex_attributes;
  std::optional<uint8_t> layer_type, tessellation;  ///< as in Function
};

struct NewLibrary {
  uint16_t patch = 7;  ///< container 1.2.patch
  Platform platform = Platform::macos;
  uint16_t os_major = 0;
  uint8_t os_minor = 0, os_patch = 0;
  std::vector<NewFunction> functions;
};

/// A library in the linker dialect, docs/formats/metallib.md 13: wrapped and padded modules, right hashes, a UUID, no
/// reflection and no sources. The UUID is the first 16 bytes of the SHA-256 over header fields, names and blobs, as
/// UUID version 8 (RFC 9562), so equal libraries have equal UUIDs. Owns its bytes.
Result<Library> make_library(const NewLibrary& request);

/// Bitcode in Apple's wrapper, padded.
Bytes wrap_bitcode(ByteView bitcode);

}  // namespace smelt::metallib
