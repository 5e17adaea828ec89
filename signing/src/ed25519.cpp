// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ed25519.hpp"

#include "smelt/base/shared_library.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace smelt::signing::ed25519 {
namespace {

// The interface below is that of version 6, which its name carries: nettle 3.4 and later, whose eddsa.h is its source.
#ifdef __APPLE__
constexpr const char* kLibrary = "libhogweed.6.dylib";
#else
constexpr const char* kLibrary = "libhogweed.so.6";
#endif

struct Functions {
  void (*public_key)(uint8_t* key, const uint8_t* seed) = nullptr;
  void (*sign)(const uint8_t* key, const uint8_t* seed, size_t size, const uint8_t* message,
               uint8_t* signature) = nullptr;
  int (*verify)(const uint8_t* key, size_t size, const uint8_t* message, const uint8_t* signature) = nullptr;
  std::string trouble;

  Functions() {
#ifndef __APPLE__
    // In a wheel both lie beside us, where we look and libhogweed does not. That it fails is no matter then.
    const SharedLibrary numbers("libgmp.so.10");
#endif
    SharedLibrary library(kLibrary);
    public_key = library.find<decltype(public_key)>("nettle_ed25519_sha512_public_key");
    sign = library.find<decltype(sign)>("nettle_ed25519_sha512_sign");
    verify = library.find<decltype(verify)>("nettle_ed25519_sha512_verify");
    trouble = library.trouble();
    if (!trouble.empty()) verify = nullptr;
  }
};

// A key is the number y of a point, 255 bits with the lowest byte first, and a bit for the sign of x. All coordinates
// are modulo p = 2^255 - 19. Eight points have an order that divides 8: with y = 1, -1 and 0, and four with the two
// numbers below (RFC 8032 has the curve; the list follows from doubling a point of order 8 three times). A signature of
// zeros is valid for many statements under the first.
using Number = std::array<uint8_t, 32>;

constexpr Number number(std::string_view hex) {
  const auto digit = [](char c) { return static_cast<uint8_t>(c <= '9' ? c - '0' : c - 'a' + 10); };
  Number bytes{};
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
  return bytes;
}

constexpr Number kModulus = number("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f");
constexpr Number kSmallOrder[] = {
    number("0100000000000000000000000000000000000000000000000000000000000000"),
    number("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
    number("0000000000000000000000000000000000000000000000000000000000000000"),
    number("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
    number("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
};

const Functions& functions() {
  static const Functions opened;
  return opened;
}

}  // namespace

Result<void> available() {
  if (functions().verify) return {};
  return fail(Errc::untrusted, "signatures can neither be made nor checked here: {} (Debian: libhogweed6)",
              functions().trouble);
}

void public_key(uint8_t* key, const uint8_t* seed) {
  functions().public_key(key, seed);
}
void sign(const uint8_t* key, const uint8_t* seed, size_t size, const uint8_t* message, uint8_t* signature) {
  functions().sign(key, seed, size, message, signature);
}
Result<void> check_public_key(const uint8_t* key) {
  Number y;
  std::copy(key, key + y.size(), y.begin());
  y.back() &= 0x7f;
  if (!std::lexicographical_compare(y.rbegin(), y.rend(), kModulus.rbegin(), kModulus.rend()))
    return fail(Errc::invalid_argument, "another spelling of a point that has one already");
  if (std::find(std::begin(kSmallOrder), std::end(kSmallOrder), y) != std::end(kSmallOrder))
    return fail(Errc::invalid_argument, "a point of small order, under which anybody's signature holds");
  return {};
}

bool verify(const uint8_t* key, size_t size, const uint8_t* message, const uint8_t* signature) {
  return functions().verify && functions().verify(key, size, message, signature) == 1;
}

}  // namespace smelt::signing::ed25519
