// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/signing/keys.hpp"

#include "smelt/base/base64.hpp"

#include "ed25519.hpp"
#include "key_file.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace smelt::signing {
namespace {

constexpr std::string_view kSecret = "secret:";
constexpr size_t kLongestName = 64;

const uint8_t* raw(const std::byte* bytes) {
  return reinterpret_cast<const uint8_t*>(bytes);
}
uint8_t* raw(std::byte* bytes) {
  return reinterpret_cast<uint8_t*>(bytes);
}

bool is_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._@-").find(c) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), fits);
}

template <size_t Size>
std::string encode(const std::string& name, const std::array<std::byte, Size>& bytes) {
  return name + ":" + to_base64(bytes);
}

/// NAME:BASE64 of exactly Size bytes, spelled as encode() spells it.
template <size_t Size>
Result<std::pair<std::string, std::array<std::byte, Size>>> decode(std::string_view text, std::string_view what) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  if (colon == text.npos || !is_name(name))
    return fail(Errc::invalid_argument, "{}: want NAME:BASE64 with a name of 1 to {} letters, digits and ._@-; got {}",
                what, kLongestName, text.empty() ? "nothing" : fmt::format("'{}'", text.substr(0, 80)));
  const std::string_view base64 = text.substr(colon + 1);
  std::pair<std::string, std::array<std::byte, Size>> decoded(std::string(name), std::array<std::byte, Size>{});
  if (from_base64(base64, decoded.second)) return decoded;
  return fail(Errc::invalid_argument, "{} '{}': want {} characters of base64 after the name, for {} bytes; got {}",
              what, name, base64_size(Size), Size, base64.size());
}

tl::unexpected<Error> file_trouble(const std::filesystem::path& file) {
  return fail(errno == ENOENT ? Errc::file_not_found : Errc::io, "{}: {}", file.string(), std::strerror(errno));
}

}  // namespace

Result<SecretKey> new_key(std::string_view name) {
  if (!is_name(name))
    return fail(Errc::invalid_argument, "a key's name has 1 to {} letters, digits and ._@-; got '{}'", kLongestName,
                name);
  SMELT_TRY_VOID(ed25519::available());
  SecretKey key{std::string(name), {}};
  if (::getentropy(key.seed.data(), key.seed.size()) != 0)
    return fail(Errc::io, "no random numbers from the system: {}", std::strerror(errno));
  return key;
}

PublicKey public_key(const SecretKey& secret) {
  PublicKey key{secret.name, {}};
  ed25519::public_key(raw(key.bytes.data()), raw(secret.seed.data()));
  return key;
}

std::string to_text(const PublicKey& key) {
  return encode(key.name, key.bytes);
}
std::string to_text(const SecretKey& key) {
  return std::string(kSecret) + encode(key.name, key.seed);
}
std::string to_text(const Signature& signature) {
  return encode(signature.name, signature.bytes);
}

Result<PublicKey> parse_public_key(std::string_view text) {
  if (text.starts_with(kSecret))
    return fail(Errc::invalid_argument,
                "this is a secret key, which must not be handed out; 'smelt key show' prints "
                "the public key that goes with it");
  SMELT_TRY(auto decoded, decode<32>(text, "public key"));
  if (const auto usable = ed25519::check_public_key(raw(decoded.second.data())); !usable)
    return fail(Errc::invalid_argument, "public key '{}': {}", decoded.first, usable.error().message);
  return PublicKey{std::move(decoded.first), decoded.second};
}

Result<SecretKey> parse_secret_key(std::string_view text) {
  // The text is not repeated in the message: it may be a secret with a typing error.
  if (!text.starts_with(kSecret))
    return fail(Errc::invalid_argument, "a secret key begins with '{}'; 'smelt key new' makes one", kSecret);
  auto decoded = decode<32>(text.substr(kSecret.size()), "secret key");
  if (!decoded) return fail(Errc::invalid_argument, "a secret key reads {}NAME:BASE64, for 32 bytes", kSecret);
  return SecretKey{std::move(decoded->first), decoded->second};
}

Result<Signature> parse_signature(std::string_view text) {
  SMELT_TRY(auto decoded, decode<64>(text, "signature"));
  return Signature{std::move(decoded.first), decoded.second};
}

Result<SecretKey> read_secret_key(const std::filesystem::path& file) {
  SMELT_TRY_VOID(ed25519::available());
  SMELT_TRY(const Bytes bytes,
            read_key_file(file, 077, "read this secret key", "chmod 600 it, or make a new one", false));
  std::string_view text = as_text(bytes);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  auto key = parse_secret_key(text);
  if (!key) return tl::unexpected(std::move(key).error().in(file.string()));
  return key;
}

Result<void> write_secret_key(const std::filesystem::path& file, const SecretKey& key) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 && errno == EEXIST)
    return fail(Errc::invalid_argument, "{}: there is a file already; a key is never overwritten", file.string());
  if (fd < 0) return file_trouble(file);
  const std::string text = to_text(key) + "\n";
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const bool closed = ::close(fd) == 0;
  if (written && closed) return {};
  auto trouble = file_trouble(file);
  ::unlink(file.c_str());
  return trouble;
}

Signature sign(const SecretKey& key, ByteView statement) {
  const PublicKey with = public_key(key);
  Signature signature{key.name, {}};
  ed25519::sign(raw(with.bytes.data()), raw(key.seed.data()), statement.size(), raw(statement.data()),
                raw(signature.bytes.data()));
  return signature;
}

bool verify(const PublicKey& key, ByteView statement, const Signature& signature) {
  return ed25519::verify(raw(key.bytes.data()), statement.size(), raw(statement.data()), raw(signature.bytes.data()));
}

}  // namespace smelt::signing
