// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From bytes that nobody has vouched for to code that runs: copy, hash the copy, then trade write for execute.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/digest.hpp"

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace smelt::loader {

/// Private memory that holds code. Readable and executable, never writable at the same time. Immutable; unmapped when
/// its last owner goes.
class CodeRegion {
 public:
  CodeRegion(std::byte* at, size_t size) : at_(at), size_(size) {}
  ~CodeRegion();
  CodeRegion(const CodeRegion&) = delete;
  CodeRegion& operator=(const CodeRegion&) = delete;
  const std::byte* at() const { return at_; }

 private:
  std::byte* at_;
  size_t size_;
};

struct CodeBlob {
  std::string_view name;  ///< for messages
  ByteView bytes;
  Digest digest;  ///< what a copy of `bytes` must hash to
};

/// Where a blob lies; the address is valid while the region lives.
struct CodePlace {
  std::shared_ptr<const CodeRegion> region;
  const std::byte* at = nullptr;
};

/// Loads blobs into one region. A blob whose copy has another hash is `digest_mismatch`: its copy is wiped, and the
/// others are loaded all the same. `io` when the system refuses executable memory.
std::vector<Result<CodePlace>> load_code(std::span<const CodeBlob> blobs);

}  // namespace smelt::loader
