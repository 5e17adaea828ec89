// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tags.hpp"

#include <algorithm>

namespace smelt::metallib {

bool has_wide_length(TagList list, Fourcc name) {
  return list == TagList::source_archive || name == tag::reflection_buffer || name == tag::reflection_packed ||
         name == tag::script_buffer;
}

uint64_t tag_size(TagList list, Fourcc name, uint64_t payload) {
  return (has_wide_length(list, name) ? 8 : 6) + payload;
}

Result<std::vector<RawTag>> read_tags(Cursor& cursor, TagList list, std::string_view what) {
  std::vector<RawTag> tags;
  for (;;) {
    const uint64_t at = cursor.offset();
    auto letters = cursor.take(4);
    if (!letters) return fail(Errc::corrupt, "{}: no ENDT before its end at byte {}", what, at + cursor.left());
    Fourcc name;
    std::memcpy(name.letters.data(), letters->data(), 4);
    if (name == tag::end) return tags;
    for (const char letter : name.letters)
      if (letter < ' ' || letter > '~')
        return fail(Errc::corrupt, "{}: want a tag name at byte {}, found {:02x} {:02x} {:02x} {:02x}", what, at,
                    static_cast<uint8_t>(name.letters[0]), static_cast<uint8_t>(name.letters[1]),
                    static_cast<uint8_t>(name.letters[2]), static_cast<uint8_t>(name.letters[3]));
    if (tags.size() == kMaxTagsPerGroup)
      return fail(Errc::corrupt, "{}: more than {} tags at byte {}", what, kMaxTagsPerGroup, at);
    const bool repeats = list == TagList::dynamic_header && name == tag::dynamic_library;
    if (!repeats && std::any_of(tags.begin(), tags.end(), [&](const RawTag& other) { return other.name == name; }))
      return fail(Errc::corrupt, "{}: a second {} at byte {}", what, name.text(), at);

    const bool wide = has_wide_length(list, name);
    if (cursor.left() < (wide ? 4 : 2))
      return fail(Errc::corrupt, "{}: {} at byte {} ends before its length; want ENDT before", what, name.text(), at);
    uint64_t length = 0;
    if (wide) {
      SMELT_TRY(length, cursor.read<uint32_t>());
    } else {
      SMELT_TRY(length, cursor.read<uint16_t>());
    }
    if (length > cursor.left())
      return fail(Errc::corrupt, "{}: {} at byte {} claims {} bytes, {} are left", what, name.text(), at, length,
                  cursor.left());
    const uint64_t payload_at = cursor.offset();
    SMELT_TRY(const ByteView payload, cursor.take(length));
    tags.push_back({name, payload, payload_at});
  }
}

std::vector<Tag> plain(const std::vector<RawTag>& tags) {
  std::vector<Tag> result;
  result.reserve(tags.size());
  for (const RawTag& tag : tags) result.push_back({tag.name, tag.payload});
  return result;
}

}  // namespace smelt::metallib
