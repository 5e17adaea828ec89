// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opening checks every row once; after that the accessors copy a row out and trust it.
#include "smelt/base/text.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/schema/package_layout.hpp"

#include "signature_text.hpp"

#include <algorithm>
#include <map>
#include <ranges>

namespace smelt::schema {
namespace {

template <class Row>
Row copy_row(const std::byte* at) {
  static_assert(std::is_trivially_copyable_v<Row>);
  Row row;
  std::memcpy(&row, at, sizeof(Row));
  return row;
}

Version to_version(const VersionRow& row) {
  return {row.major, row.minor, row.patch};
}

bool all_zero(ByteView bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

/// The checks of Package::open, table by table, in the order in which they lie in the file.
class PackageReader {
 public:
  explicit PackageReader(ByteView bytes) { package_.bytes_ = bytes; }

  Result<Package> read() {
    SMELT_TRY_VOID(read_header());
    SMELT_TRY_VOID(read_tables());
    SMELT_TRY_VOID(check_libraries());
    SMELT_TRY_VOID(check_functions());
    SMELT_TRY_VOID(check_arguments());
    SMELT_TRY_VOID(check_slices());
    SMELT_TRY_VOID(check_gaps());
    return std::move(package_);
  }

 private:
  template <class... Args>
  static tl::unexpected<Error> corrupt(fmt::format_string<Args...> format, Args&&... args) {
    return fail(Errc::corrupt, "package: {}", fmt::format(format, std::forward<Args>(args)...));
  }

  Result<void> read_header() {
    const ByteView bytes = package_.bytes_;
    if (bytes.size() < 8 || copy_row<le32>(bytes.data()) != kPackageMagic)
      return corrupt("the first bytes are not \"SMLT\" and two format numbers ({} bytes in all)", bytes.size());
    package_.format_ = copy_row<le16>(bytes.data() + 4);
    const uint16_t oldest = copy_row<le16>(bytes.data() + 6);
    if (oldest > kPackageFormat)
      return fail(Errc::format_newer,
                  "package: written in format {}, which asks for a reader of format {} or later; this reader knows {} "
                  "to {}. Use a newer smelt, or build the package with an older one",
                  package_.format_, oldest, kPackageOldestRead, kPackageFormat);
    if (package_.format_ < kPackageOldestRead || package_.format_ < oldest)
      return corrupt("format {} with oldest reader {} was never written", package_.format_, oldest);
    if (bytes.size() < sizeof(PackageHeader))
      return fail(Errc::truncated, "package: {} bytes; the header alone has {}: it is cut short; copy it again",
                  bytes.size(), sizeof(PackageHeader));
    header_ = copy_row<PackageHeader>(bytes.data());
    if (bytes.size() < header_.size)
      return fail(Errc::truncated, "package: the header says {} bytes, there are {}: it is cut short; copy it again",
                  uint64_t{header_.size}, bytes.size());
    if (header_.size < sizeof(PackageHeader))
      return corrupt("the header says {} bytes, fewer than it has itself", uint64_t{header_.size});
    if (bytes.size() > header_.size) SMELT_TRY_VOID(read_signatures(bytes.subspan(header_.size)));
    package_.bytes_ = bytes.first(header_.size);
    return read_hashes();
  }

  /// What lies after the package: a block of signatures and nothing else.
  Result<void> read_signatures(ByteView block) {
    if (block.size() < sizeof(SignaturesHeader) || block.size() > kMostSignatureBytes ||
        copy_row<SignaturesHeader>(block.data()).magic != kSignaturesMagic ||
        copy_row<SignaturesHeader>(block.data()).size != block.size())
      return corrupt("the header says {} bytes, and the {} after them are not signatures", uint64_t{header_.size},
                     block.size());
    std::string_view lines = as_text(block.subspan(sizeof(SignaturesHeader)));
    package_.signatures_ = lines;
    while (!lines.empty()) {
      const size_t end = lines.find('\n');
      if (end == lines.npos || !is_signature(lines.substr(0, end)))
        return corrupt("a signature does not read NAME:BASE64");
      lines.remove_prefix(end + 1);
    }
    return {};
  }

  Result<void> read_hashes() {
    const ByteView bytes = package_.bytes_;
    package_.digest_.bytes = header_.digest;
    if (sha256(bytes.first(offsetof(PackageHeader, digest))) != package_.digest_)
      return fail(Errc::digest_mismatch, "package: the header does not hash to the digest at offset {}",
                  offsetof(PackageHeader, digest));
    const uint64_t manifest_end = header_.manifest_offset + header_.manifest_size;
    if (header_.manifest_offset != sizeof(PackageHeader) || header_.manifest_size > bytes.size() ||
        manifest_end > header_.parts_offset || header_.parts_offset > bytes.size() ||
        header_.parts_size != bytes.size() - header_.parts_offset)
      return corrupt("manifest of {} bytes at {} and parts of {} bytes at {} do not fill a file of {}",
                     uint64_t{header_.manifest_size}, uint64_t{header_.manifest_offset}, uint64_t{header_.parts_size},
                     uint64_t{header_.parts_offset}, bytes.size());
    manifest_ = bytes.subspan(header_.manifest_offset, header_.manifest_size);
    if (sha256(manifest_).bytes != header_.manifest_hash)
      return fail(Errc::digest_mismatch, "package: the manifest does not hash to the digest in the header");
    return {};
  }

  template <class Row>
  bool take_table(Package::Table& table, uint32_t count) {
    const uint64_t size = uint64_t{count} * sizeof(Row);
    if (size > manifest_.size() - at_) return false;
    table = {manifest_.data() + at_, count};
    at_ += size;
    return true;
  }

  Result<void> read_tables() {
    if (manifest_.size() < sizeof(ManifestHeader)) return corrupt("manifest of {} bytes", manifest_.size());
    const auto counts = copy_row<ManifestHeader>(manifest_.data());
    at_ = sizeof(ManifestHeader);
    const bool fits = take_table<LibraryRow>(package_.libraries_, counts.libraries) &&
                      take_table<TagRow>(package_.tags_, counts.tags) &&
                      take_table<FunctionRow>(package_.functions_, counts.functions) &&
                      take_table<ArgumentRow>(package_.arguments_, counts.arguments) &&
                      take_table<ConstantRow>(package_.constants_, counts.constants) &&
                      take_table<SliceRow>(package_.slices_, counts.slices) &&
                      take_table<PresenceRow>(package_.presences_, counts.presences) &&
                      take_table<AttachmentRow>(package_.attachments_, counts.attachments) &&
                      take_table<MemberRow>(package_.members_, counts.members);
    if (!fits || counts.text_bytes != manifest_.size() - at_ ||
        (counts.members != 0 && package_.format_ < kPackageMembers))
      return corrupt("the manifest's tables and {} bytes of text do not fill its {} bytes", uint32_t{counts.text_bytes},
                     manifest_.size());
    package_.text_ = as_text(manifest_.subspan(at_));
    uint8_t all = 0;  // without a branch, so that many bytes are looked at together
    for (const char c : package_.text_) all |= static_cast<uint8_t>(c);
    text_is_ascii_ = all < 0x80;
    return {};
  }

  Result<void> check_text(const TextRef& ref, std::string_view what, bool may_be_empty) const {
    if (uint64_t{ref.offset} + ref.size > package_.text_.size())
      return corrupt("{}: text of {} bytes at {} is outside the pool of {}", what, uint32_t{ref.size},
                     uint32_t{ref.offset}, package_.text_.size());
    const std::string_view text = package_.text(ref);
    if ((text.empty() && !may_be_empty) || text.find('\0') != text.npos)
      return corrupt("{} is {}", what, text.empty() ? "empty" : "text with a NUL in it");
    if (!text_is_ascii_ && !is_utf8(text)) return corrupt("{} '{}' is not UTF-8", what, text);
    return {};
  }

  /// A parent's range must begin where the one before it ended.
  static Result<void> advance(const RowRange& range, uint64_t& next, std::string_view what) {
    if (range.first != next) return corrupt("{} begin at row {}, want {}", what, uint32_t{range.first}, next);
    next += range.count;
    return {};
  }
  static Result<void> check_end(uint64_t next, const Package::Table& table, std::string_view what) {
    if (next != table.count) return corrupt("{} rows of {}, {} are used", table.count, what, next);
    return {};
  }

  Result<void> check_libraries() {
    uint64_t tags = 0, functions = 0, slices = 0, attachments = 0;
    std::vector<std::string_view> names;
    for (uint32_t i = 0; i < package_.libraries_.count; ++i) {
      const auto row = package_.row<LibraryRow>(package_.libraries_, i);
      SMELT_TRY_VOID(check_text(row.name, "library name", false));
      SMELT_TRY_VOID(check_text(row.compiler, "compiler", true));
      SMELT_TRY_VOID(check_text(row.version, "version", true));
      SMELT_TRY_VOID(advance(row.tags, tags, "tags"));
      SMELT_TRY_VOID(advance(row.functions, functions, "functions"));
      SMELT_TRY_VOID(advance(row.slices, slices, "slices"));
      SMELT_TRY_VOID(advance(row.attachments, attachments, "attachments"));
      names.push_back(package_.text(row.name));
    }
    SMELT_TRY_VOID(check_end(tags, package_.tags_, "tags"));
    SMELT_TRY_VOID(check_end(functions, package_.functions_, "functions"));
    SMELT_TRY_VOID(check_end(slices, package_.slices_, "slices"));
    SMELT_TRY_VOID(check_end(attachments, package_.attachments_, "attachments"));
    std::sort(names.begin(), names.end());
    if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
      return corrupt("two libraries are named '{}'", *twice);
    for (uint32_t i = 0; i < package_.tags_.count; ++i)
      SMELT_TRY_VOID(check_text(package_.row<TagRow>(package_.tags_, i).text, "tag", false));
    return {};
  }

  Result<void> check_functions() {
    uint64_t arguments = 0, constants = 0;
    for (uint32_t i = 0; i < package_.functions_.count; ++i) {
      const auto row = package_.row<FunctionRow>(package_.functions_, i);
      SMELT_TRY_VOID(check_text(row.name, "function name", false));
      SMELT_TRY_VOID(advance(row.arguments, arguments, "arguments"));
      SMELT_TRY_VOID(advance(row.constants, constants, "constants"));
      if (package_.format_ >= kPackageRanks && row.grid_rank > 3)
        return corrupt("function '{}' has a position of {} dimensions", package_.text(row.name),
                       uint16_t{row.grid_rank});
      if (row.kind > uint32_t(FunctionKind::object))
        return corrupt("function '{}' has kind {}", package_.text(row.name), uint32_t{row.kind});
    }
    SMELT_TRY_VOID(check_end(arguments, package_.arguments_, "arguments"));
    SMELT_TRY_VOID(check_end(constants, package_.constants_, "constants"));
    // Strictly ascending names through by_name: it is a permutation, and no name occurs twice.
    for (uint32_t i = 0; i < package_.libraries_.count; ++i) {
      const LibraryView library = package_.library(i);
      std::string_view before;
      for (uint32_t k = 0; k < library.functions.count; ++k) {
        const auto row = package_.row<FunctionRow>(package_.functions_, library.functions.first + k);
        if (row.by_name >= library.functions.count)
          return corrupt("library '{}': function {} in name order is {} of {}", library.name, k, uint32_t{row.by_name},
                         library.functions.count);
        const std::string_view name = package_.function(library.functions.first + row.by_name).name;
        if (k > 0 && before >= name)
          return corrupt("library '{}': function names '{}' and '{}' are not in order", library.name, before, name);
        before = name;
      }
    }
    return {};
  }

  bool is_known_kind(uint8_t kind) const {
    const uint16_t first = first_format_with(kind);
    return first != 0 && package_.format_ >= first;
  }

  Result<void> check_arguments() {
    for (uint32_t i = 0; i < package_.arguments_.count; ++i) {
      const auto row = package_.row<ArgumentRow>(package_.arguments_, i);
      SMELT_TRY_VOID(check_text(row.name, "argument name", true));
      SMELT_TRY_VOID(check_text(row.type_name, "argument type", true));
      if (!is_known_kind(row.kind) || row.access > uint8_t(Access::sample) || row.flags > 3)
        return corrupt("argument '{}' has kind {}, access {}, flags {}", package_.text(row.name), row.kind, row.access,
                       row.flags);
    }
    SMELT_TRY_VOID(check_members());
    for (uint32_t i = 0; i < package_.constants_.count; ++i) {
      const auto row = package_.row<ConstantRow>(package_.constants_, i);
      SMELT_TRY_VOID(check_text(row.name, "constant name", true));
      SMELT_TRY_VOID(check_text(row.type_name, "constant type", false));
      if (row.required > 1)
        return corrupt("constant '{}' is required {} times", package_.text(row.name), uint32_t{row.required});
    }
    return {};
  }

  Result<void> check_members() {
    uint32_t before = 0;
    for (uint32_t i = 0; i < package_.members_.count; ++i) {
      const auto row = package_.row<MemberRow>(package_.members_, i);
      SMELT_TRY_VOID(check_text(row.name, "member name", true));
      SMELT_TRY_VOID(check_text(row.type_name, "member type", true));
      const std::string_view name = package_.text(row.name);
      if (row.argument >= package_.arguments_.count || row.argument < before)
        return corrupt("member '{}' is of argument {} of {}, after one of {}", name, uint32_t{row.argument},
                       package_.arguments_.count, before);
      before = row.argument;
      if (row.kind > uint8_t(MemberKind::other) || row.access > uint8_t(Access::sample) || row.zero != 0)
        return corrupt("member '{}' has kind {}, access {}", name, row.kind, row.access);
    }
    return {};
  }

  Result<void> check_slices() {
    uint64_t presences = 0;
    for (uint32_t i = 0; i < package_.libraries_.count; ++i) {
      const LibraryView library = package_.library(i);
      for (uint32_t k = 0; k < library.slices.count; ++k) {
        const auto row = package_.row<SliceRow>(package_.slices_, library.slices.first + k);
        SMELT_TRY_VOID(check_text(row.target, "slice target", false));
        const std::string_view target = package_.text(row.target);
        const bool kind_known = row.kind == uint8_t(SliceKind::metallib) || row.kind == uint8_t(SliceKind::cpu);
        if (!kind_known || row.platform > uint8_t(Platform::visionos) ||
            Checks::from_bits(row.checked).bits() != row.checked || row.zero != 0 || row.zero_end != 0)
          return corrupt("slice '{}' has kind {}, platform {}, checked {}", target, row.kind, row.platform,
                         row.checked);
        SMELT_TRY_VOID(
            advance({row.first_presence, library.functions.count}, presences, "a slice's notes on functions"));
        SMELT_TRY_VOID(check_part_place(row.offset, row.size, row.hash, target));
      }
      for (uint32_t k = 0; k < library.attachments.count; ++k) {
        const auto row = package_.row<AttachmentRow>(package_.attachments_, library.attachments.first + k);
        SMELT_TRY_VOID(check_text(row.name, "attachment name", false));
        SMELT_TRY_VOID(check_part_place(row.offset, row.size, row.hash, package_.text(row.name)));
      }
    }
    SMELT_TRY_VOID(check_end(presences, package_.presences_, "notes on functions"));
    for (uint32_t i = 0; i < package_.presences_.count; ++i) {
      const auto row = package_.row<PresenceRow>(package_.presences_, i);
      SMELT_TRY_VOID(check_text(row.reason, "reason", true));
      if (row.missing > 1) return corrupt("note {} on a function is neither present nor missing", i);
    }
    return {};
  }

  /// A part is new, and begins right after the one before it, or is one that was met already.
  Result<void> check_part_place(uint64_t offset, uint64_t size, const std::array<std::byte, 32>& hash,
                                std::string_view what) {
    const uint64_t file = package_.bytes_.size();
    if (size > file || offset > file - size)
      return corrupt("part '{}': {} bytes at {} are outside the file of {}", what, size, offset, file);
    if (const auto met = parts_.find(offset); met != parts_.end()) {
      if (met->second.first != size || met->second.second != hash)
        return corrupt("part '{}' overlaps another at {}", what, offset);
      return {};
    }
    const uint64_t expected = parts_.empty() ? uint64_t{header_.parts_offset} : next_part_;
    if (offset != expected || offset % kPartAlignment != 0)
      return corrupt("part '{}' begins at {}, want {}", what, offset, expected);
    if (size == 0) return corrupt("part '{}' is empty", what);
    parts_.emplace(offset, std::pair(size, hash));
    end_ = offset + size;
    next_part_ = round_up<uint64_t>(end_, kPartAlignment);
    return {};
  }

  /// No byte is without a meaning: what lies between manifest and parts, and between parts, is zero.
  Result<void> check_gaps() {
    uint64_t at = header_.manifest_offset + header_.manifest_size;
    if (parts_.empty()) end_ = header_.parts_offset;
    if (end_ != package_.bytes_.size())
      return corrupt("the last part ends at {}, the file at {}", end_, package_.bytes_.size());
    if (header_.parts_offset - at >= kPartAlignment)
      return corrupt("manifest ends at {}, parts begin at {}", at, uint64_t{header_.parts_offset});
    if (!all_zero(package_.bytes_.subspan(at, header_.parts_offset - at)))
      return corrupt("bytes between manifest and parts are not zero");
    at = header_.parts_offset;
    for (const auto& [offset, part] : parts_) {
      if (!all_zero(package_.bytes_.subspan(at, offset - at)))
        return corrupt("bytes before the part at {} are not zero", offset);
      at = offset + part.first;
    }
    return {};
  }

  Package package_;
  PackageHeader header_{};
  ByteView manifest_;
  uint64_t at_ = 0;
  bool text_is_ascii_ = false;
  std::map<uint64_t, std::pair<uint64_t, std::array<std::byte, 32>>> parts_;
  uint64_t next_part_ = 0;
  uint64_t end_ = 0;
};

Result<Package> Package::open(ByteView bytes) {
  return PackageReader(bytes).read();
}

bool Package::looks_like(ByteView bytes) {
  return bytes.size() >= 4 && load_le<uint32_t>(bytes.data()) == kPackageMagic;
}

template <class Row>
Row Package::row(const Table& table, uint32_t index) const {
  return copy_row<Row>(table.rows + size_t{index} * sizeof(Row));
}

template <class Ref>
std::string_view Package::text(const Ref& ref) const {
  return text_.substr(ref.offset, ref.size);
}

namespace {
Range to_range(const RowRange& range) {
  return {range.first, range.count};
}
}  // namespace

LibraryView Package::library(uint32_t index) const {
  const auto at = row<LibraryRow>(libraries_, index);
  return {text(at.name),     text(at.compiler),      text(at.version),    Digest{at.source},
          to_range(at.tags), to_range(at.functions), to_range(at.slices), to_range(at.attachments)};
}

std::optional<uint32_t> Package::find_library(std::string_view name) const {
  for (uint32_t i = 0; i < libraries_.count; ++i)
    if (text(row<LibraryRow>(libraries_, i).name) == name) return i;
  return std::nullopt;
}

std::string_view Package::tag(uint32_t index) const {
  return text(row<TagRow>(tags_, index).text);
}

FunctionView Package::function(uint32_t index) const {
  const auto at = row<FunctionRow>(functions_, index);
  const bool has_rank = format_ >= kPackageRanks;
  return {text(at.name),
          FunctionKind(uint32_t{at.kind}),
          to_range(at.arguments),
          to_range(at.constants),
          at.max_threads | (has_rank ? 0 : uint32_t{at.grid_rank} << 16),
          has_rank ? uint32_t{at.grid_rank} : 0,
          at.threadgroup_bytes,
          {at.required_group[0], at.required_group[1], at.required_group[2]}};
}

ArgumentView Package::argument(uint32_t index, bool members) const {
  const auto at = row<ArgumentRow>(arguments_, index);
  ArgumentView argument;
  argument.name = text(at.name);
  argument.type_name = text(at.type_name);
  argument.index = at.index;
  argument.location = at.location;
  argument.kind = ArgumentKind(at.kind);
  argument.access = Access(at.access);
  argument.address_space = at.address_space;
  argument.unused = (at.flags & 1) != 0;
  argument.conditional = (at.flags & 2) != 0;
  argument.array_size = at.array_size;
  argument.size = at.size;
  argument.align = at.align;
  if (members) argument.members = members_of(index);
  return argument;
}

std::vector<MemberView> Package::members_of(uint32_t argument) const {
  if (members_.count == 0) return {};
  const auto rows = std::views::iota(uint32_t{0}, members_.count);
  const auto first = std::ranges::partition_point(
      rows, [&](uint32_t index) { return row<MemberRow>(members_, index).argument < argument; });
  std::vector<MemberView> found;
  for (uint32_t index : std::ranges::subrange(first, rows.end())) {
    const auto at = row<MemberRow>(members_, index);
    if (at.argument != argument) break;
    found.push_back({text(at.name), text(at.type_name), at.id, at.count, at.offset, at.size, MemberKind(at.kind),
                     Access(at.access)});
  }
  return found;
}

ConstantView Package::constant(uint32_t index) const {
  const auto at = row<ConstantRow>(constants_, index);
  return {text(at.name), text(at.type_name), at.index, at.required != 0};
}

SliceView Package::slice(uint32_t index) const {
  const auto at = row<SliceRow>(slices_, index);
  SliceView slice;
  slice.target = text(at.target);
  slice.kind = SliceKind(at.kind);
  slice.platform = Platform(at.platform);
  slice.os = to_version(at.os);
  slice.metal = to_version(at.metal);
  slice.air = to_version(at.air);
  slice.family = at.family;
  slice.arch = at.arch;
  slice.level = at.level;
  slice.checked = Checks::from_bits(at.checked);
  slice.part = {bytes_.subspan(at.offset, at.size), Digest{at.hash}};
  slice.root = Digest{at.root};
  slice.first_presence = at.first_presence;
  return slice;
}

PresenceView Package::presence(uint32_t index) const {
  const auto at = row<PresenceRow>(presences_, index);
  return {at.missing != 0, text(at.reason), to_version(at.metal), to_version(at.air)};
}

AttachmentView Package::attachment(uint32_t index) const {
  const auto at = row<AttachmentRow>(attachments_, index);
  return {text(at.name), {bytes_.subspan(at.offset, at.size), Digest{at.hash}}};
}

std::optional<uint32_t> Package::find_function(const LibraryView& library, std::string_view name) const {
  uint32_t low = 0, high = library.functions.count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const uint32_t local = row<FunctionRow>(functions_, library.functions.first + middle).by_name;
    const uint32_t index = library.functions.first + local;
    const std::string_view at = text(row<FunctionRow>(functions_, index).name);
    if (at == name) return index;
    if (at < name)
      low = middle + 1;
    else
      high = middle;
  }
  return std::nullopt;
}

Result<void> check_part(const PartView& part, std::string_view what) {
  if (const Digest found = sha256(part.bytes); found != part.hash)
    return fail(Errc::digest_mismatch, "part '{}': its {} bytes hash to {}, the manifest lists {}", what,
                part.bytes.size(), to_hex(found), to_hex(part.hash));
  return {};
}

Result<void> check_all_parts(const Package& package) {
  for (uint32_t i = 0; i < package.library_count(); ++i) {
    const LibraryView library = package.library(i);
    for (uint32_t k = 0; k < library.slices.count; ++k) {
      const SliceView slice = package.slice(library.slices.first + k);
      SMELT_TRY_VOID(check_part(slice.part, fmt::format("{}/{}", library.name, slice.target)));
    }
    for (uint32_t k = 0; k < library.attachments.count; ++k) {
      const AttachmentView attachment = package.attachment(library.attachments.first + k);
      SMELT_TRY_VOID(check_part(attachment.part, fmt::format("{}/{}", library.name, attachment.name)));
    }
  }
  return {};
}

}  // namespace smelt::schema
