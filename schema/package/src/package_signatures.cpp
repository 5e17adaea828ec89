// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block of signatures after a package.
#include "smelt/schema/package.hpp"
#include "smelt/schema/package_layout.hpp"

#include "signature_text.hpp"

#include <algorithm>

namespace smelt::schema {

bool is_signature(std::string_view text) {
  return text.size() <= 256 && text.find(':') != text.npos &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

std::vector<std::string> Package::signatures() const {
  std::vector<std::string> found;
  for (std::string_view lines = signatures_; !lines.empty();) {
    const size_t end = lines.find('\n');
    found.emplace_back(lines.substr(0, end));
    lines.remove_prefix(end + 1);
  }
  return found;
}

std::string package_statement(const Digest& digest) {
  return fmt::format("smelt-package 1\ndigest {}\n", to_hex(digest));
}

Result<Bytes> with_signatures(ByteView package, std::span<const std::string> signatures) {
  SMELT_TRY(const Package opened, Package::open(package));
  Bytes bytes = to_bytes(opened.bytes());
  if (signatures.empty()) return bytes;
  std::string lines;
  for (const std::string& signature : signatures) {
    if (!is_signature(signature))
      return fail(Errc::invalid_argument, "signing a package: '{}' does not read NAME:BASE64", signature);
    lines += signature + "\n";
  }
  const size_t size = sizeof(SignaturesHeader) + lines.size();
  if (size > kMostSignatureBytes)
    return fail(Errc::invalid_argument, "signing a package: {} bytes of signatures are more than {}", size,
                kMostSignatureBytes);
  const SignaturesHeader header{kSignaturesMagic, static_cast<uint32_t>(size)};
  const auto* begin = reinterpret_cast<const std::byte*>(&header);
  bytes.insert(bytes.end(), begin, begin + sizeof(header));
  const ByteView text = as_bytes(lines);
  bytes.insert(bytes.end(), text.begin(), text.end());
  return bytes;
}

}  // namespace smelt::schema
