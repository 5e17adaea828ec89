// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values to bytes. Tables are gathered first, in the order of their parents; then everything is laid out once.
#include "smelt/base/text.hpp"
#include "smelt/schema/cpu_slice.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/schema/package_layout.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace smelt::schema {
namespace {

VersionRow to_row(const Version& version) {
  return {version.major, version.minor, version.patch};
}

/// Each text once, in order of first mention. What only tells (an argument's name, a reason) may be any bytes in a
/// Metal library; here it becomes text.
class TextPool {
 public:
  TextRef add(const std::string& text) {
    if (text.empty()) return {0u, 0u};
    if (!is_utf8(text) || text.find('\0') != text.npos) return add(printable(text));
    const auto [at, fresh] = offsets_.try_emplace(text, bytes_.size());
    if (fresh) bytes_ += text;
    return {uint32_t(at->second), uint32_t(text.size())};
  }
  std::string_view view() const { return bytes_; }

 private:
  std::string bytes_;
  std::map<std::string, size_t> offsets_;
};

/// Each part once; offsets count from the first part until the manifest's size is known.
class Parts {
 public:
  struct Place {
    uint64_t offset;
    Digest hash;
  };
  Place add(const Bytes& bytes) {
    const Digest hash = sha256(bytes);
    const auto [at, fresh] = offsets_.try_emplace(hash, 0);
    if (fresh) {
      writer_.pad_to(kPartAlignment);
      at->second = writer_.size();
      writer_.put_bytes(bytes);
    }
    return {at->second, hash};
  }
  ByteView view() const { return writer_.view(); }

 private:
  ByteWriter writer_;
  std::map<Digest, uint64_t> offsets_;
};

template <class Row>
void put_rows(ByteWriter& out, const std::vector<Row>& rows) {
  for (const Row& row : rows) out.put_bytes({reinterpret_cast<const std::byte*>(&row), sizeof(Row)});
}

Result<void> check_name(const std::string& name, std::string_view what) {
  if (name.empty() || name.find('\0') != name.npos || !is_utf8(name))
    return fail(Errc::invalid_argument, "writing a package: {} '{}' is empty, holds a NUL or is not UTF-8", what,
                name.c_str());
  return {};
}

class PackageWriter {
 public:
  Result<Bytes> write(std::span<const Library> libraries) {
    for (const Library& library : libraries) {
      for (const LibraryRow& earlier : libraries_)
        if (text_.view().substr(earlier.name.offset, earlier.name.size) == library.name)
          return fail(Errc::invalid_argument, "writing a package: two libraries are named '{}'", library.name);
      if (auto added = add(library); !added) return tl::unexpected(std::move(added).error().in(library.name));
    }
    return lay_out();
  }

 private:
  template <class Row, class Values>
  static RowRange range(const std::vector<Row>& rows, const Values& values) {
    return {uint32_t(rows.size()), uint32_t(values.size())};
  }

  Result<void> add(const Library& library) {
    SMELT_TRY_VOID(check_name(library.name, "library name"));
    LibraryRow row{};
    row.name = text_.add(library.name);
    row.compiler = text_.add(library.compiler);
    row.version = text_.add(library.version);
    row.source = library.source.bytes;
    row.tags = range(tags_, library.tags);
    row.functions = range(functions_, library.functions);
    row.slices = range(slices_, library.slices);
    row.attachments = range(attachments_, library.attachments);
    libraries_.push_back(row);
    for (const std::string& tag : library.tags) {
      SMELT_TRY_VOID(check_name(tag, "tag"));
      tags_.push_back({text_.add(tag)});
    }
    SMELT_TRY_VOID(add_functions(library));
    for (const Slice& slice : library.slices) SMELT_TRY_VOID(add_slice(slice, library));
    for (const Attachment& attachment : library.attachments) {
      SMELT_TRY_VOID(check_name(attachment.name, "attachment name"));
      if (attachment.bytes.empty())
        return fail(Errc::invalid_argument, "writing a package: attachment '{}' is empty", attachment.name);
      const auto place = parts_.add(attachment.bytes);
      attachments_.push_back({text_.add(attachment.name), place.offset, attachment.bytes.size(), place.hash.bytes});
    }
    return {};
  }

  Result<void> add_functions(const Library& library) {
    std::vector<uint32_t> order(library.functions.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return library.functions[a].name < library.functions[b].name; });
    for (size_t k = 0; k < order.size(); ++k) {
      const Function& function = library.functions[k];
      SMELT_TRY_VOID(check_name(function.name, "function name"));
      if (k > 0 && library.functions[order[k]].name == library.functions[order[k - 1]].name)
        return fail(Errc::invalid_argument, "writing a package: two functions are named '{}'",
                    library.functions[order[k]].name);
      FunctionRow row{};
      row.name = text_.add(function.name);
      row.arguments = range(arguments_, function.arguments);
      row.constants = range(constants_, function.constants);
      row.kind = uint32_t(function.kind);
      // A threadgroup has 1,024 threads at most, so that more says nothing more.
      row.max_threads = static_cast<uint16_t>(std::min<uint32_t>(function.max_threads, UINT16_MAX));
      if (function.grid_rank > 1) {
        row.grid_rank = static_cast<uint16_t>(function.grid_rank);
        format_of_kinds_ = std::max(format_of_kinds_, kPackageRanks);
      }
      row.threadgroup_bytes = function.threadgroup_bytes;
      for (size_t axis = 0; axis < 3; ++axis) row.required_group[axis] = function.required_group[axis];
      row.by_name = order[k];
      functions_.push_back(row);
      for (const Argument& argument : function.arguments) add(argument);
      for (const Constant& constant : function.constants) {
        SMELT_TRY_VOID(check_name(constant.type_name, "type of a function constant"));
        constants_.push_back(
            {text_.add(constant.name), text_.add(constant.type_name), constant.index, uint32_t(constant.required)});
      }
    }
    return {};
  }

  void add(const Argument& argument) {
    ArgumentRow row{};
    row.name = text_.add(argument.name);
    row.type_name = text_.add(argument.type_name);
    row.index = argument.index;
    row.location = argument.location;
    row.kind = uint8_t(argument.kind);
    format_of_kinds_ = std::max(format_of_kinds_, first_format_with(row.kind));
    row.access = uint8_t(argument.access);
    row.address_space = argument.address_space;
    row.flags = uint8_t((argument.unused ? 1 : 0) | (argument.conditional ? 2 : 0));
    row.array_size = argument.array_size;
    row.size = argument.size;
    row.align = argument.align;
    for (const Member& member : argument.members)
      members_.push_back({text_.add(member.name), text_.add(member.type_name), uint32_t(arguments_.size()), member.id,
                          member.count, member.offset, member.size, uint8_t(member.kind), uint8_t(member.access), 0u});
    arguments_.push_back(row);
  }

  Result<void> add_slice(const Slice& slice, const Library& library) {
    SMELT_TRY_VOID(check_name(slice.target, "slice target"));
    if (slice.functions.size() != library.functions.size())
      return fail(Errc::invalid_argument, "writing a package: slice '{}' describes {} functions, the library has {}",
                  slice.target, slice.functions.size(), library.functions.size());
    if (slice.bytes.empty())
      return fail(Errc::invalid_argument, "writing a package: slice '{}' has no bytes", slice.target);
    SliceRow row{};
    row.target = text_.add(slice.target);
    row.kind = uint8_t(slice.kind);
    row.platform = uint8_t(slice.platform);
    row.checked = slice.checked.bits();
    row.arch = slice.arch;
    row.level = slice.level;
    row.os = to_row(slice.os);
    row.metal = to_row(slice.metal);
    row.air = to_row(slice.air);
    row.family = slice.family;
    const auto place = parts_.add(slice.bytes);
    row.offset = place.offset;
    row.size = slice.bytes.size();
    row.hash = place.hash.bytes;
    if (slice.kind == SliceKind::cpu) {
      // The slice's own digest covers its rows, and they each kernel: with it here the chain from the package's
      // digest to one kernel's code is complete, without hashing the others.
      if (slice.bytes.size() < kCpuSliceHeaderBytes || load_le<uint32_t>(slice.bytes.data()) != kCpuSliceMagic)
        return fail(Errc::invalid_argument, "writing a package: slice '{}' is not CPU code", slice.target);
      std::memcpy(row.root.data(), slice.bytes.data() + kCpuSliceHeaderBytes - row.root.size(), row.root.size());
    }
    row.first_presence = uint32_t(presences_.size());
    slices_.push_back(row);
    for (const Presence& presence : slice.functions)
      presences_.push_back(
          {text_.add(presence.reason), to_row(presence.metal), to_row(presence.air), uint32_t(presence.missing)});
    return {};
  }

  Result<Bytes> lay_out() {
    // 32-bit counts and text: far beyond any real library, but a wrap would be a silent wrong file.
    const uint64_t most =
        std::max({arguments_.size(), presences_.size(), functions_.size(), members_.size(), text_.view().size()});
    if (most > std::numeric_limits<uint32_t>::max())
      return fail(Errc::invalid_argument, "writing a package: {} rows or bytes of text are too many", most);

    const size_t manifest_size = sizeof(ManifestHeader) + libraries_.size() * sizeof(LibraryRow) +
                                 tags_.size() * sizeof(TagRow) + functions_.size() * sizeof(FunctionRow) +
                                 arguments_.size() * sizeof(ArgumentRow) + constants_.size() * sizeof(ConstantRow) +
                                 slices_.size() * sizeof(SliceRow) + presences_.size() * sizeof(PresenceRow) +
                                 attachments_.size() * sizeof(AttachmentRow) + members_.size() * sizeof(MemberRow) +
                                 text_.view().size();
    const uint64_t manifest_end = sizeof(PackageHeader) + manifest_size;
    const uint64_t parts_offset = round_up<uint64_t>(manifest_end, kPartAlignment);
    for (SliceRow& row : slices_) row.offset = row.offset + parts_offset;
    for (AttachmentRow& row : attachments_) row.offset = row.offset + parts_offset;

    ByteWriter manifest;
    const ManifestHeader counts{uint32_t(libraries_.size()),   uint32_t(tags_.size()),
                                uint32_t(functions_.size()),   uint32_t(arguments_.size()),
                                uint32_t(constants_.size()),   uint32_t(slices_.size()),
                                uint32_t(presences_.size()),   uint32_t(attachments_.size()),
                                uint32_t(text_.view().size()), uint32_t(members_.size())};
    put_rows(manifest, std::vector{counts});
    put_rows(manifest, libraries_);
    put_rows(manifest, tags_);
    put_rows(manifest, functions_);
    put_rows(manifest, arguments_);
    put_rows(manifest, constants_);
    put_rows(manifest, slices_);
    put_rows(manifest, presences_);
    put_rows(manifest, attachments_);
    put_rows(manifest, members_);
    manifest.put_text(text_.view());

    PackageHeader header{};
    header.magic = kPackageMagic;
    // A reader of format 1 would take the table for text; without one the file is as it always was.
    const uint16_t format_of_tables = members_.empty() ? kPackageMembers - 1 : kPackageMembers;
    header.format = header.oldest = std::max(format_of_kinds_, format_of_tables);
    header.size = parts_offset + parts_.view().size();
    header.manifest_offset = sizeof(PackageHeader);
    header.manifest_size = manifest_size;
    header.parts_offset = parts_offset;
    header.parts_size = parts_.view().size();
    header.manifest_hash = sha256(manifest.view()).bytes;
    const auto* header_bytes = reinterpret_cast<const std::byte*>(&header);
    header.digest = sha256({header_bytes, offsetof(PackageHeader, digest)}).bytes;

    ByteWriter out;
    out.put_bytes({header_bytes, sizeof(header)});
    out.put_bytes(manifest.view());
    out.pad_to(kPartAlignment);
    out.put_bytes(parts_.view());
    return out.take();
  }

  TextPool text_;
  Parts parts_;
  std::vector<LibraryRow> libraries_;
  std::vector<TagRow> tags_;
  std::vector<FunctionRow> functions_;
  std::vector<ArgumentRow> arguments_;
  std::vector<ConstantRow> constants_;
  std::vector<SliceRow> slices_;
  std::vector<PresenceRow> presences_;
  std::vector<AttachmentRow> attachments_;
  std::vector<MemberRow> members_;
  uint16_t format_of_kinds_ = 0;  ///< that functions and arguments need
};

}  // namespace

Result<Bytes> write_package(std::span<const Library> libraries) {
  return PackageWriter().write(libraries);
}

}  // namespace smelt::schema
