// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes as a package. Hashes would stop a fuzzer at the door, so they are put right first, as a forger would: what
// then opens must have all its text and parts inside the file, and can be copied or says why not.
#include "smelt/schema/package.hpp"
#include "smelt/schema/package_layout.hpp"

#include <cstddef>
#include <cstdlib>

using namespace smelt;
using namespace smelt::schema;

namespace {

void put(Bytes& bytes, size_t at, const Digest& digest) {
  std::memcpy(bytes.data() + at, digest.bytes.data(), digest.bytes.size());
}

void seal(Bytes& bytes) {
  if (bytes.size() < sizeof(PackageHeader)) return;
  PackageHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.manifest_offset <= bytes.size() && header.manifest_size <= bytes.size() - header.manifest_offset)
    put(bytes, offsetof(PackageHeader, manifest_hash),
        sha256(ByteView(bytes).subspan(header.manifest_offset, header.manifest_size)));
  put(bytes, offsetof(PackageHeader, digest), sha256(ByteView(bytes).first(offsetof(PackageHeader, digest))));
}

class Inside {
 public:
  explicit Inside(ByteView bytes) : bytes_(bytes) {}
  void operator()(ByteView part) const {
    if (part.empty()) return;
    if (part.data() < bytes_.data() || part.data() + part.size() > bytes_.data() + bytes_.size()) std::abort();
  }
  void operator()(std::string_view text) const { (*this)(as_bytes(text)); }

 private:
  ByteView bytes_;
};

void walk(const Package& package) {
  const Inside inside(package.bytes());
  for (uint32_t i = 0; i < package.library_count(); ++i) {
    const LibraryView library = package.library(i);
    inside(library.name), inside(library.compiler), inside(library.version);
    for (uint32_t k = 0; k < library.tags.count; ++k) inside(package.tag(library.tags.first + k));
    for (uint32_t k = 0; k < library.functions.count; ++k) {
      const FunctionView function = package.function(library.functions.first + k);
      inside(function.name);
      if (package.find_function(library, function.name) != library.functions.first + k) std::abort();
      for (uint32_t a = 0; a < function.arguments.count; ++a)
        inside(package.argument(function.arguments.first + a).name);
      for (uint32_t c = 0; c < function.constants.count; ++c)
        inside(package.constant(function.constants.first + c).name);
    }
    for (uint32_t k = 0; k < library.slices.count; ++k) {
      const SliceView slice = package.slice(library.slices.first + k);
      inside(slice.target), inside(slice.part.bytes);
      for (uint32_t f = 0; f < library.functions.count; ++f) inside(package.presence(slice.first_presence + f).reason);
    }
    for (uint32_t k = 0; k < library.attachments.count; ++k)
      inside(package.attachment(library.attachments.first + k).part.bytes);
    // What can be copied can be written, and what was written opens.
    if (auto copy = package.copy_library(i))
      if (const auto written = write_package(std::vector{std::move(*copy)}))
        if (!Package::open(*written)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes bytes(size);
  if (size != 0) std::memcpy(bytes.data(), data, size);
  if (const auto package = Package::open(bytes)) walk(*package);
  seal(bytes);
  if (const auto package = Package::open(bytes)) walk(*package);
  return 0;
}
