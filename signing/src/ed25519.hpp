// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ed25519 of nettle's libhogweed, which is opened when the first key or signature is looked at: it brings GMP, and a
// program that loads kernels and checks no signature does not pay for that at its start.
#pragma once

#include "smelt/base/result.hpp"

#include <cstddef>
#include <cstdint>

namespace smelt::signing::ed25519 {

/// `untrusted` with the reason when the library cannot be opened. The others may be called only after it was ok;
/// verify() alone says false then.
Result<void> available();

void public_key(uint8_t* key, const uint8_t* seed);
void sign(const uint8_t* key, const uint8_t* seed, size_t size, const uint8_t* message, uint8_t* signature);
/// Errors: what is no key that anybody has a secret for. `invalid_argument` for a point of small order (under which
/// signatures of nobody verify) and for a second spelling of a point.
Result<void> check_public_key(const uint8_t* key);
bool verify(const uint8_t* key, size_t size, const uint8_t* message, const uint8_t* signature);

}  // namespace smelt::signing::ed25519
