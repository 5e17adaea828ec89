// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ed25519.hpp"

#include "smelt/base/shared_library.hpp"

#include <string>

namespace smelt::trust::ed25519 {
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
bool verify(const uint8_t* key, size_t size, const uint8_t* message, const uint8_t* signature) {
  return functions().verify && functions().verify(key, size, message, signature) == 1;
}

}  // namespace smelt::trust::ed25519
