// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packages: reading in place, writing, merging. The bytes are drawn in package_layout.hpp.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/digest.hpp"
#include "smelt/schema/manifest.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace smelt::schema {

/// Rows [first, first + count) of a table of the manifest; pass first + i to the accessor of that table.
struct Range {
  uint32_t first = 0;
  uint32_t count = 0;
};

// What a reader hands out: values whose text and bytes lie in the package's own bytes.
using MemberView = BasicMember<std::string_view>;
using ArgumentView = BasicArgument<std::string_view>;
using ConstantView = BasicConstant<std::string_view>;
using PresenceView = BasicPresence<std::string_view>;

struct PartView {
  ByteView bytes;
  Digest hash;  ///< what `bytes` must hash to; not checked yet: see check_part
};

struct SliceView : BasicSlice<std::string_view> {
  PartView part;
  Digest root;  ///< CPU slices: the digest that the slice's own header must carry
  uint32_t first_presence = 0;
};

struct FunctionView {
  std::string_view name;
  FunctionKind kind = FunctionKind::kernel;
  Range arguments;
  Range constants;
  uint32_t max_threads = 0;
  uint32_t grid_rank = 0;  ///< 2 or 3, or 0 when it is one or not known
  uint32_t threadgroup_bytes = 0;
  uint32_t required_group[3] = {};
};

struct AttachmentView {
  std::string_view name;
  PartView part;
};

struct LibraryView {
  std::string_view name;
  std::string_view compiler;
  std::string_view version;
  Digest source;
  Range tags;
  Range functions;
  Range slices;
  Range attachments;
};

/// An opened package. Borrows the bytes, which must stay unchanged and outlive it; every row has been checked, so the
/// accessors cannot fail (an index past its table is the caller's bug). Copyable and thread-safe.
class Package {
 public:
  /// Checks header, manifest and the place of every part. Costs one pass over the manifest and no hash of parts.
  /// Errors: `truncated` (fewer bytes than the header says), `corrupt` (also one byte too many), `format_newer`,
  /// `digest_mismatch` (header or manifest).
  static Result<Package> open(ByteView bytes);
  /// Whether the bytes begin like a package, whatever their format.
  static bool looks_like(ByteView bytes);

  /// Content address of the whole package.
  const Digest& digest() const { return digest_; }
  uint16_t format() const { return format_; }
  /// The package without its signatures.
  ByteView bytes() const { return bytes_; }
  /// NAME:BASE64 each, over package_statement(digest()). Whether they hold, and whose they are, is not looked at.
  std::vector<std::string> signatures() const;

  uint32_t library_count() const { return libraries_.count; }
  LibraryView library(uint32_t index) const;
  /// Index of the library of this name.
  std::optional<uint32_t> find_library(std::string_view name) const;

  std::string_view tag(uint32_t index) const;
  FunctionView function(uint32_t index) const;
  /// Without `members` they are left out: a caller that only binds does not need them.
  ArgumentView argument(uint32_t index, bool members = true) const;
  ConstantView constant(uint32_t index) const;
  SliceView slice(uint32_t index) const;
  PresenceView presence(uint32_t index) const;
  AttachmentView attachment(uint32_t index) const;

  /// Row of a library's function by name: binary search in the manifest itself.
  std::optional<uint32_t> find_function(const LibraryView& library, std::string_view name) const;

  /// The library as values of its own, to be changed or merged. Checks the hash of each part it copies.
  Result<Library> copy_library(uint32_t index) const;

 private:
  friend class PackageReader;
  struct Table {
    const std::byte* rows = nullptr;
    uint32_t count = 0;
  };
  template <class Row>
  Row row(const Table& table, uint32_t index) const;
  template <class Ref>
  std::string_view text(const Ref& ref) const;
  std::vector<MemberView> members_of(uint32_t argument) const;

  ByteView bytes_;
  std::string_view signatures_;  ///< lines
  Digest digest_;
  uint16_t format_ = 0;
  Table libraries_, tags_, functions_, arguments_, constants_, slices_, presences_, attachments_, members_;
  std::string_view text_;
};

/// Hashes the part. `digest_mismatch` names it.
Result<void> check_part(const PartView& part, std::string_view what);

/// Hashes every part: what `smelt verify` and LoadOptions::verify = digest ask for.
Result<void> check_all_parts(const Package& package);

/// Deterministic: the same libraries in the same order give the same bytes. Equal parts are stored once.
/// Errors: `invalid_argument` for names that are empty or met twice, or presences that do not match the functions.
Result<Bytes> write_package(std::span<const Library> libraries);

/// What a signature of a package is made over. The digest covers every byte, so it binds what the package was made
/// from, what it says about its kernels, and every part.
std::string package_statement(const Digest& digest);

/// The package with these signatures and no others. Errors: those of opening it; `invalid_argument` for what is not of
/// the form NAME:BASE64, or too much.
Result<Bytes> with_signatures(ByteView package, std::span<const std::string> signatures);

/// What `smelt pack A B` does. Libraries keep the order of first mention. Two of one name are merged when they come
/// from the same source and compiler and list the same functions: the slices are joined; the same target twice must
/// have the same bytes. Anything else that shares a name is a conflict, and the error says in what they differ.
Result<std::vector<Library>> merge_packages(std::span<const Package> packages);

}  // namespace smelt::schema
