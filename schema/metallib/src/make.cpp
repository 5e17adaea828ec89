// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A fresh library in the recommended shape (docs/formats/metallib.md 13): linker dialect, one module per function.
#include "smelt/metallib/writer.hpp"

#include "blob.hpp"
#include "patches.hpp"

#include <set>

namespace smelt::metallib {
namespace {

constexpr size_t kUuidSize = 16;
constexpr size_t kLongestName = 0xFFFF - 1;  // NAME counts the NUL

Result<void> check(const NewFunction& function) {
  if (function.name.empty() || function.name.size() > kLongestName || !is_utf8(function.name) ||
      function.name.find('\0') != std::string::npos)
    return fail(Errc::invalid_argument, "function name of {} bytes; want 1 to {} bytes of UTF-8 without NUL",
                function.name.size(), kLongestName);
  if (function.bitcode.size() < 4 || function.bitcode.size() % 4 != 0 || function.bitcode.size() > 0xFFFFFFFF ||
      load_le<uint32_t>(function.bitcode.data()) != kBitcodeMagic)
    return fail(Errc::invalid_argument, "function '{}': {} bytes are not LLVM bitcode; want 'BC' C0 DE and whole words",
                function.name, function.bitcode.size());
  return {};
}

Result<TagGroup> make_public(Library& library, const NewFunction& function) {
  TagGroup group;
  // Attributes with a count of 0 make pipelines fail, so absent means absent.
  if (!function.constants.empty()) {
    SMELT_TRY(Bytes payload, encode_constants(function.constants));
    group.tags.push_back({tag::constants, library.keep(std::move(payload))});
  }
  if (!function.vertex_attributes.empty()) {
    SMELT_TRY(auto payloads, encode_vertex_attributes(function.vertex_attributes));
    group.tags.push_back({tag::vertex_attributes, library.keep(std::move(payloads.first))});
    group.tags.push_back({tag::vertex_types, library.keep(std::move(payloads.second))});
  }
  return group;
}

Bytes make_uuid(const Library& library) {
  Hasher hasher;
  hasher.field("smelt metallib uuid 1");
  hasher.field(uint64_t{library.patch} << 32 | uint64_t{library.platform} << 16 | library.os_major);
  hasher.field(uint64_t{library.os_minor} << 8 | library.os_patch);
  for (const Function& function : library.functions) {
    hasher.field(function.name);
    hasher.field(library.module_of(function).blob);
  }
  const Digest digest = hasher.finish();
  Bytes uuid(digest.bytes.begin(), digest.bytes.begin() + kUuidSize);
  uuid[6] = (uuid[6] & std::byte{0x0F}) | std::byte{0x80};  // version 8: made by the writer's own rule
  uuid[8] = (uuid[8] & std::byte{0x3F}) | std::byte{0x80};  // RFC 9562 variant
  return uuid;
}

}  // namespace

Result<Library> make_library(const NewLibrary& request) {
  if (request.patch < kOldestPatch || request.patch > kNewestPatch)
    return fail(Errc::invalid_argument, "container 1.2.{}; want 1.2.{} to 1.2.{}", request.patch, kOldestPatch,
                kNewestPatch);
  Library library;
  library.patch = request.patch;
  library.built_for_macos = request.platform == Platform::macos;
  if (request.patch >= kFirstPatchWithPlatform) {
    library.is_64bit = true;
    library.platform = static_cast<uint8_t>(request.platform);
    library.os_major = request.os_major;
    library.os_minor = request.os_minor;
    library.os_patch = request.os_patch;
  }

  std::set<std::string_view> names;
  for (const NewFunction& wanted : request.functions) {
    SMELT_TRY_VOID(check(wanted));
    if (!names.insert(wanted.name).second)
      return fail(Errc::invalid_argument, "two functions named '{}'; names in a library are unique", wanted.name);
    const auto index = static_cast<uint32_t>(library.functions.size());
    SMELT_TRY(TagGroup open, make_public(library, wanted));
    library.public_metadata.push_back(std::move(open));
    library.private_metadata.emplace_back();
    library.modules.push_back({library.keep(wrap_bitcode(wanted.bitcode))});
    SMELT_TRY_VOID(check_blob(library.modules.back().blob, 0));

    Function function;
    function.name = wanted.name;
    function.type = static_cast<uint8_t>(wanted.type);
    function.versions = wanted.versions;
    function.public_group = function.private_group = function.module = index;
    function.hash = sha256(library.modules.back().blob);
    for (const Fourcc name : {tag::name, tag::type, tag::hash, tag::offsets, tag::versions, tag::module_size})
      function.tags.push_back({name, {}});
    function.tessellation = wanted.tessellation;
    function.layer_type = wanted.layer_type;
    if (function.tessellation) function.tags.push_back({tag::tessellation, {}});
    if (function.layer_type) function.tags.push_back({tag::layer, {}});
    library.functions.push_back(std::move(function));
  }
  library.extension.emplace();
  library.extension->push_back({tag::uuid, library.keep(make_uuid(library))});
  return library;
}

}  // namespace smelt::metallib
