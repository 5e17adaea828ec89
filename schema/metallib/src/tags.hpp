// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tags as they lie in the file: the one place that knows how a tag's length is written.
#pragma once

#include "smelt/metallib/library.hpp"

namespace smelt::metallib {

/// Where a list of tags stands decides how wide their lengths are and whether one may come twice.
enum class TagList { function, metadata, extension, source_archive, reflection_entry, dynamic_header };

/// True when the tag's length is a u32, false for a u16.
bool has_wide_length(TagList list, Fourcc name);

struct RawTag {
  Fourcc name;
  ByteView payload;
  uint64_t at = 0;  ///< file offset of the payload
};

/// Reads tags up to and with ENDT. `what` is named in messages.
Result<std::vector<RawTag>> read_tags(Cursor& cursor, TagList list, std::string_view what);

/// The same without the payloads' offsets.
std::vector<Tag> plain(const std::vector<RawTag>& tags);

/// Bytes that a tag takes.
uint64_t tag_size(TagList list, Fourcc name, uint64_t payload);

inline constexpr uint64_t kEndSize = 4;

}  // namespace smelt::metallib
