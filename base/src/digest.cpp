// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nettle: small, picks SHA-NI at run time, and costs a loader nothing at start-up. A Mac has the same in its C library.
#include "smelt/base/digest.hpp"

#include <algorithm>

#if defined(__APPLE__)
#include <CommonCrypto/CommonDigest.h>
#else
#include <nettle/sha2.h>
#endif

namespace smelt {

#if defined(__APPLE__)
struct Hasher::State {
  CC_SHA256_CTX context;

  State() { CC_SHA256_Init(&context); }
  void update(ByteView bytes) {
    constexpr size_t kMost = 1 << 30;  // CC_LONG has 32 bits
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(kMost, bytes.size())))
      CC_SHA256_Update(&context, bytes.data(), static_cast<CC_LONG>(std::min(kMost, bytes.size())));
  }
  void finish(Digest& digest) { CC_SHA256_Final(reinterpret_cast<unsigned char*>(digest.bytes.data()), &context); }
};
#else
struct Hasher::State {
  sha256_ctx context;

  State() { sha256_init(&context); }
  void update(ByteView bytes) { sha256_update(&context, bytes.size(), reinterpret_cast<const uint8_t*>(bytes.data())); }
  void finish(Digest& digest) {
    sha256_digest(&context, digest.bytes.size(), reinterpret_cast<uint8_t*>(digest.bytes.data()));
  }
};
#endif

Hasher::Hasher() : state_(std::make_unique<State>()) {}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

void Hasher::update(ByteView bytes) {
  state_->update(bytes);
}

void Hasher::field(ByteView bytes) {
  std::byte length[8];
  store_le<uint64_t>(length, bytes.size());
  update(length);
  update(bytes);
}

void Hasher::field(uint64_t value) {
  std::byte bytes[8];
  store_le(bytes, value);
  field(ByteView(bytes));
}

Digest Hasher::finish() {
  Digest digest;
  state_->finish(digest);
  return digest;
}

Digest sha256(ByteView bytes) {
  Hasher hasher;
  hasher.update(bytes);
  return hasher.finish();
}

// By hand: nettle has base16, a Mac's C library has not.
std::string to_hex(const Digest& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.bytes.size());
  for (std::byte byte : digest.bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

Result<Digest> digest_from_hex(std::string_view hex) {
  Digest digest;
  const auto nibble = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  if (hex.size() != 2 * digest.bytes.size())
    return fail(Errc::invalid_argument, "digest '{}' has {} characters; want 64 hexadecimal digits", hex, hex.size());
  for (size_t i = 0; i < digest.bytes.size(); ++i) {
    const int high = nibble(hex[2 * i]), low = nibble(hex[2 * i + 1]);
    if (high < 0 || low < 0) return fail(Errc::invalid_argument, "digest '{}' is not hexadecimal", hex);
    digest.bytes[i] = static_cast<std::byte>(16 * high + low);
  }
  return digest;
}

}  // namespace smelt
