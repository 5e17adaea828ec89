// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/bytes.hpp"

namespace smelt {

Result<ByteView> Cursor::take(uint64_t count) {
  if (count > left())
    return fail(Errc::corrupt, "{}: want {} bytes at offset {}, have {}", what_, count, offset(), left());
  const ByteView view = bytes_.subspan(at_, count);
  at_ += count;
  return view;
}

Result<void> Cursor::seek(uint64_t position) {
  if (position > bytes_.size())
    return fail(Errc::corrupt, "{}: offset {} is past the end at {}", what_, origin_ + position,
                origin_ + bytes_.size());
  at_ = position;
  return {};
}

Result<void> Cursor::skip(uint64_t count) {
  SMELT_TRY_VOID(take(count));
  return {};
}

Result<std::string_view> Cursor::read_cstring() {
  const std::string_view text = as_text(rest());
  const size_t end = text.find('\0');
  if (end == std::string_view::npos)
    return fail(Errc::corrupt, "{}: text at offset {} has no terminating NUL", what_, offset());
  at_ += end + 1;
  return text.substr(0, end);
}

Result<Cursor> Cursor::sub(uint64_t count, std::string_view what) {
  const uint64_t origin = offset();
  SMELT_TRY(const ByteView view, take(count));
  return Cursor(view, what, origin);
}

}  // namespace smelt
