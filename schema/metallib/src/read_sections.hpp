// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sections behind the function list, one function each. `at` is always the section's file offset.
#pragma once

#include "tags.hpp"

namespace smelt::metallib {

/// Groups with the offset of each from the section's start, so that OFFT, SOFF and RFLT can be looked up.
struct Metadata {
  std::vector<TagGroup> groups;
  std::vector<uint64_t> offsets;
};
Result<Metadata> read_metadata(ByteView section, uint64_t at, std::string_view what);

struct SourceList {
  Sources sources;
  std::vector<uint64_t> offsets;  ///< to each archive's first tag
};
Result<SourceList> read_sources(ByteView section, uint64_t at, bool with_directory);

struct ReflectionList {
  Reflection reflection;
  std::vector<uint64_t> offsets;  ///< to each entry's group
};
Result<ReflectionList> read_reflection(ByteView section, uint64_t at);

Result<std::vector<Tag>> read_dynamic_header(ByteView section, uint64_t at);

/// Bytes before the flatbuffer of an RBUF whose payload starts at this file offset.
inline uint64_t reflection_padding(uint64_t payload_at) {
  return (kReflectionAlignment - payload_at % kReflectionAlignment) % kReflectionAlignment;
}

}  // namespace smelt::metallib
