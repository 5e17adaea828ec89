// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ed25519 keys and signatures as text, one word each, so that they fit on a line, in an environment variable and in a
// mail. The algorithm is nettle's.
//
//   public key   NAME:BASE64            32 bytes
//   secret key   secret:NAME:BASE64     32 bytes, the seed; the public key follows from it
//   signature    NAME:BASE64            64 bytes
//
// A name is 1 to 64 of the characters A-Z a-z 0-9 . _ @ -. It says whose key to look for; it proves nothing.
#pragma once

#include "smelt/base/bytes.hpp"

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

namespace smelt::signing {

struct PublicKey {
  std::string name;
  std::array<std::byte, 32> bytes{};
  bool operator==(const PublicKey&) const = default;
};

struct SecretKey {
  std::string name;
  std::array<std::byte, 32> seed{};
};

struct Signature {
  std::string name;  ///< of the key that made it
  std::array<std::byte, 64> bytes{};
};

/// A fresh key from the kernel's random numbers. `invalid_argument` for a name that is none.
Result<SecretKey> new_key(std::string_view name);
PublicKey public_key(const SecretKey& secret);

std::string to_text(const PublicKey& key);
std::string to_text(const SecretKey& key);
std::string to_text(const Signature& signature);
Result<PublicKey> parse_public_key(std::string_view text);
Result<SecretKey> parse_secret_key(std::string_view text);
Result<Signature> parse_signature(std::string_view text);

/// A file that holds one secret key on a line of its own. Refused (`untrusted`) when others than its owner may read it.
Result<SecretKey> read_secret_key(const std::filesystem::path& file);
/// Writes it with mode 0600. An existing file is never overwritten (`invalid_argument`).
Result<void> write_secret_key(const std::filesystem::path& file, const SecretKey& key);

/// Over the statement's bytes as they are. The same key and statement give the same signature.
Signature sign(const SecretKey& key, ByteView statement);
bool verify(const PublicKey& key, ByteView statement, const Signature& signature);

}  // namespace smelt::signing
