// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "packages.hpp"

#include "smelt/schema/package_layout.hpp"

#include "bytes.hpp"

#include <cstddef>
#include <cstring>

namespace smelt::test {
namespace {

using Random = std::mt19937_64;

void put(Bytes& bytes, size_t at, const Digest& digest) {
  std::memcpy(bytes.data() + at, digest.bytes.data(), digest.bytes.size());
}

/// Hashes of header and manifest; those of parts are in the manifest and stay.
void seal(Bytes& bytes) {
  if (bytes.size() < sizeof(schema::PackageHeader)) return;
  schema::PackageHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.manifest_offset <= bytes.size() && header.manifest_size <= bytes.size() - header.manifest_offset)
    put(bytes, offsetof(schema::PackageHeader, manifest_hash),
        sha256(ByteView(bytes).subspan(header.manifest_offset, header.manifest_size)));
  const size_t covered = offsetof(schema::PackageHeader, digest);
  put(bytes, covered, sha256(ByteView(bytes).first(covered)));
}

/// A few bytes of header and manifest.
void change_manifest(Bytes& bytes, Random& random) {
  schema::PackageHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const size_t end = std::min<uint64_t>(bytes.size(), header.manifest_offset + header.manifest_size);
  for (uint64_t left = 1 + random() % 4; left != 0; --left) {
    const size_t at = random() % (end - 4);
    if (random() % 2 == 0) {
      bytes[at] ^= std::byte{1} << (random() % 8);
    } else {
      const uint32_t word = hostile_word(random);
      std::memcpy(bytes.data() + (at & ~size_t{3}), &word, sizeof(word));
    }
  }
}

std::string hostile_text(Random& random) {
  static const std::string kTexts[] = {"",
                                       "..",
                                       "../../etc/passwd",
                                       "a@b",
                                       "lib@1.0.0",
                                       "\x1b[31m",
                                       "\xff\xfe",
                                       std::string(1, '\0'),
                                       std::string("a\0b", 3),
                                       "a\nb",
                                       " ",
                                       ">=1,<2",
                                       "1.0.0",
                                       "999999999999999999999999.1",
                                       "1..2",
                                       "-1",
                                       "1.0.0-rc.1+build",
                                       "library.smelt",
                                       std::string(300, 'x'),
                                       std::string(70'000, 'y'),
                                       "macos14",
                                       "cpu-x86-64-v3",
                                       "cpu-x86-64-v99",
                                       "second"};
  return kTexts[random() % std::size(kTexts)];
}

void change_slice(schema::Library& library, Random& random) {
  schema::Slice& slice = library.slices[random() % library.slices.size()];
  switch (random() % 6) {
    case 0:
      slice.target = hostile_text(random);
      break;
    case 1:
      slice.kind = slice.kind == schema::SliceKind::cpu ? schema::SliceKind::metallib : schema::SliceKind::cpu;
      break;
    case 2:
      change_bytes(slice.bytes, random);
      break;
    case 3:
      slice.bytes.clear();
      break;
    case 4:
      slice.arch = hostile_word(random);
      slice.level = hostile_word(random);
      break;
    default:
      for (schema::Presence& presence : slice.functions) {
        presence.missing = !presence.missing;
        presence.reason = hostile_text(random);
      }
  }
}

void change_library(schema::Library& library, Random& random) {
  switch (random() % 8) {
    case 0:
      library.name = hostile_text(random);
      break;
    case 1:
    case 2:
      library.version = hostile_text(random);
      break;
    case 3:
      library.tags.push_back(hostile_text(random));
      break;
    case 4:
      if (!library.attachments.empty()) library.attachments.front().name = hostile_text(random);
      break;
    case 5:
      if (!library.functions.empty()) library.functions.front().name = hostile_text(random);
      break;
    case 6:
      library.functions.clear();
      for (schema::Slice& slice : library.slices) slice.functions.clear();
      break;
    default:
      if (!library.slices.empty()) change_slice(library, random);
  }
}

}  // namespace

std::vector<schema::Library> sound_libraries(ByteView package) {
  std::vector<schema::Library> libraries;
  for (const char* name : {"first", "second"}) {
    libraries.push_back(schema::Package::open(package).value().copy_library(0).value());
    libraries.back().name = name;
    libraries.back().version = "1.0.0";
    libraries.back().tags = {"one", "two"};
    libraries.back().attachments.push_back({"notes", Bytes(10, std::byte{1})});
  }
  return libraries;
}

Bytes hostile_package(const std::vector<Bytes>& seeds, const std::vector<schema::Library>& sound, Random& random) {
  Bytes bytes = seeds[random() % seeds.size()];
  switch (random() % 6) {
    case 0:
      change_bytes(bytes, random);
      return bytes;
    case 1:
      change_bytes(bytes, random);
      seal(bytes);
      return bytes;
    case 2:
      change_manifest(bytes, random);
      seal(bytes);
      return bytes;
    case 3: {  // behind its end: signatures, or what is none
      const size_t more = random() % 200;
      const char magic[] = {'S', 'M', 'S', 'G', static_cast<char>(more), 0, 0, 0};
      for (size_t i = 0; i < more; ++i)
        bytes.push_back(i < sizeof(magic) ? static_cast<std::byte>(magic[i]) : static_cast<std::byte>(random()));
      return bytes;
    }
    default:
      break;
  }
  std::vector<schema::Library> libraries = sound;
  for (uint64_t left = 1 + random() % 4; left != 0; --left)
    change_library(libraries[random() % libraries.size()], random);
  // What the writer refuses is changed as bytes.
  if (auto written = schema::write_package(libraries)) return std::move(*written);
  change_manifest(bytes, random);
  seal(bytes);
  return bytes;
}

}  // namespace smelt::test
