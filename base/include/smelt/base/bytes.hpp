// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes and the one cursor that owns every bound. Shared by each parser of outside bytes.
#pragma once

#include "smelt/base/result.hpp"

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smelt {

/// Borrowed bytes; the owner must outlive the view.
using ByteView = std::span<const std::byte>;
/// Owned bytes.
using Bytes = std::vector<std::byte>;

inline ByteView as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Bytes to_bytes(ByteView view) {
  return Bytes(view.begin(), view.end());
}

/// The next multiple of `unit`, unless it is one; the caller knows that it does not overflow.
template <std::unsigned_integral T>
constexpr T round_up(T value, T unit) {
  return (value + unit - 1) / unit * unit;
}

/// A little-endian integer at `at`; the caller has checked that it is inside.
template <std::unsigned_integral T>
T load_le(const std::byte* at) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(static_cast<T>(at[i]) << (8 * i));
  return value;
}
template <std::unsigned_integral T>
void store_le(std::byte* at, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) at[i] = static_cast<std::byte>(value >> (8 * i));
}

/// An integer that is only bytes until it is read: layout structs need neither alignment nor a byte order.
template <std::unsigned_integral T>
class LittleEndian {
 public:
  LittleEndian() = default;
  LittleEndian(T value) { store_le(bytes_.data(), value); }
  operator T() const { return load_le<T>(bytes_.data()); }

 private:
  std::array<std::byte, sizeof(T)> bytes_{};
};
using le16 = LittleEndian<uint16_t>;
using le32 = LittleEndian<uint32_t>;
using le64 = LittleEndian<uint64_t>;

/// Reads forward through borrowed bytes. Every read is checked and fails rather than clamps; messages name what is
/// being read and the absolute offset (`origin` is the view's own offset in the file).
class Cursor {
 public:
  Cursor(ByteView bytes, std::string_view what, uint64_t origin = 0) : bytes_(bytes), what_(what), origin_(origin) {}

  uint64_t offset() const { return origin_ + at_; }
  uint64_t position() const { return at_; }
  uint64_t left() const { return bytes_.size() - at_; }
  bool at_end() const { return at_ == bytes_.size(); }
  ByteView rest() const { return bytes_.subspan(at_); }

  Result<ByteView> take(uint64_t count);
  Result<void> seek(uint64_t position);
  Result<void> skip(uint64_t count);
  template <std::unsigned_integral T>
  Result<T> read() {
    auto bytes = take(sizeof(T));
    if (!bytes) return tl::unexpected(std::move(bytes).error());
    return load_le<T>(bytes->data());
  }
  /// Text up to the next NUL, which is consumed and not returned.
  Result<std::string_view> read_cstring();
  /// A checked sub-view of what is left, as a cursor of its own.
  Result<Cursor> sub(uint64_t count, std::string_view what);

 private:
  ByteView bytes_;
  std::string_view what_;
  uint64_t origin_ = 0;
  uint64_t at_ = 0;
};

/// Appends to owned bytes.
class ByteWriter {
 public:
  template <std::unsigned_integral T>
  void put(T value) {
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    store_le(bytes_.data() + at, value);
  }
  void put_bytes(ByteView view) { bytes_.insert(bytes_.end(), view.begin(), view.end()); }
  void put_text(std::string_view text) { put_bytes(as_bytes(text)); }
  void put_cstring(std::string_view text) {
    put_text(text);
    bytes_.push_back(std::byte{0});
  }
  void pad_to(size_t alignment) {
    while (bytes_.size() % alignment != 0) bytes_.push_back(std::byte{0});
  }
  /// Overwrites an integer written before.
  template <std::unsigned_integral T>
  void patch(size_t at, T value) {
    store_le(bytes_.data() + at, value);
  }
  size_t size() const { return bytes_.size(); }
  ByteView view() const { return bytes_; }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

}  // namespace smelt
