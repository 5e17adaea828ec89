// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a library says, as plain values with names in place of numbers: for `smelt inspect`, for the loader's reports,
// for tests. Owns all it holds; outlives the library.
#pragma once

#include "smelt/metallib/metadata.hpp"

#include <string>
#include <vector>

namespace smelt::metallib {

struct SectionFacts {
  std::string name;
  uint64_t offset = 0, size = 0;  ///< in the file
};

struct FunctionFacts {
  std::string name;
  std::string type;  ///< "kernel", "vertex", ...; a number when it has no name; "unknown" when absent
  std::string hash;  ///< hexadecimal SHA-256 of the module's blob, as stored
  bool hash_matches = false;
  Versions versions;
  uint64_t module_offset = 0, module_size = 0;  ///< of the blob, in the file
  uint64_t bitcode_size = 0;                    ///< without wrapper and padding
  std::vector<std::string> tags;                ///< in file order
  std::vector<Constant> constants;
  std::vector<VertexAttribute> vertex_attributes;
  std::string source_path;  ///< DEBI; empty when absent
  uint32_t source_line = 0;
  std::string air_path;  ///< DEPF; empty when absent
  std::optional<uint64_t> source_archive;
  std::optional<ReflectionView> reflection;
};

struct ArchiveFacts {
  std::string id;
  std::string compression;  ///< "bzip2", or "unknown"
  uint64_t size = 0;        ///< stream and padding
};

struct LibraryFacts {
  std::string container;  ///< "1.2.7"
  std::string dialect;    ///< "linker", "tool", "mixed"; "unknown" with no metadata group
  std::string file_type, platform;
  bool built_for_macos = false, stub = false, is_64bit = false;
  uint16_t os_major = 0;
  uint8_t os_minor = 0, os_patch = 0;
  uint64_t file_size = 0;
  std::string uuid;  ///< 8-4-4-4-12; empty when absent
  std::vector<SectionFacts> sections;
  std::vector<FunctionFacts> functions;
  std::vector<std::string> extension_tags;
  std::string link_command, link_directory;
  std::vector<ArchiveFacts> source_archives;
  std::string install_name;
  std::vector<std::string> linked_libraries;
};

/// For a library that was read or made. Errors: invalid_argument when it cannot be laid out.
Result<LibraryFacts> inspect(const Library& library);

}  // namespace smelt::metallib
