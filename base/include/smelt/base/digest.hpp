// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SHA-256, the one content address of the project (library hashes of Apple's container, package digests, store keys).
#pragma once

#include "smelt/base/bytes.hpp"

#include <array>
#include <compare>
#include <memory>
#include <string>
#include <string_view>

namespace smelt {

/// A SHA-256 value.
struct Digest {
  std::array<std::byte, 32> bytes{};
  auto operator<=>(const Digest&) const = default;
};

Digest sha256(ByteView bytes);
std::string to_hex(const Digest& digest);
/// 64 hexadecimal digits, either case.
Result<Digest> digest_from_hex(std::string_view hex);

/// SHA-256 in pieces. `field` prefixes length, so that ("ab","c") and ("a","bc") differ: use it for keys.
/// Not thread-safe.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;
  void update(ByteView bytes);
  void field(ByteView bytes);
  void field(std::string_view text) { field(as_bytes(text)); }
  void field(uint64_t value);
  Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace smelt
