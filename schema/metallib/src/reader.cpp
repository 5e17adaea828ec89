// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of work, and the checks that need to see the whole image (docs/formats/metallib.md 14):
//   header -> function list -> extension -> metadata -> modules -> the sections that the extension names
//   -> OFFT, SOFF, RFLT to indices -> every byte in exactly one section -> hashes
#include "smelt/metallib/reader.hpp"

#include "blob.hpp"
#include "read_functions.hpp"
#include "read_sections.hpp"

#include <algorithm>
#include <bitset>
#include <map>

namespace smelt::metallib {
namespace {

/// A section with its checked place.
struct Found {
  Section section;
  uint64_t offset = 0, size = 0;
};

class Reader {
 public:
  Reader(ByteView image, const ReadOptions& options) : image_(image), options_(options) {}

  Result<Library> read() {
    SMELT_TRY_VOID(read_header());
    SMELT_TRY_VOID(read_list_and_extension());
    SMELT_TRY_VOID(read_both_metadata());
    SMELT_TRY_VOID(read_modules());
    SMELT_TRY_VOID(read_named_sections());
    SMELT_TRY_VOID(explain_every_byte());
    if (options_.check_hashes) SMELT_TRY_VOID(check_hashes());
    if (options_.owner) library_.owners.push_back(options_.owner);
    return std::move(library_);
  }

 private:
  Result<void> read_header();
  Result<void> check_version();
  Result<void> place(Section section, uint64_t offset, uint64_t size);
  Result<void> read_list_and_extension();
  Result<void> read_extension(uint64_t at, uint64_t end);
  Result<void> read_both_metadata();
  Result<void> read_modules();
  Result<void> read_named_sections();
  Result<void> read_named_section(const Found& found, Fourcc name);
  Result<void> explain_every_byte();
  Result<void> check_hashes() const;

  ByteView bytes_of(const Found& found) const { return image_.subspan(found.offset, found.size); }
  Found find(Section section) const {
    return *std::find_if(found_.begin(), found_.end(), [&](const Found& f) { return f.section == section; });
  }

  ByteView image_;
  const ReadOptions& options_;
  Header header_;
  Library library_;
  std::vector<Links> links_;
  std::vector<Found> found_;
  std::vector<std::pair<Found, Fourcc>> named_;  ///< sections that the extension names
};

Result<void> Reader::read_header() {
  if (!is_metallib(image_))
    return fail(Errc::not_metallib, "not a Metal library: it looks like {}; want a file that starts with '{}'",
                looks_like(image_), kMagic);
  if (image_.size() < sizeof(Header))
    return fail(Errc::truncated, "header: want {} bytes, the file has {}", sizeof(Header), image_.size());
  std::memcpy(&header_, image_.data(), sizeof(Header));
  SMELT_TRY_VOID(check_version());

  const uint64_t claimed = header_.file_size;
  if (claimed > image_.size())
    return fail(Errc::truncated, "header says the library has {} bytes, the file has {}", claimed, image_.size());
  if (claimed < image_.size())
    return fail(Errc::corrupt, "header says the library has {} bytes, the file has {} more", claimed,
                image_.size() - claimed);

  library_.built_for_macos = (header_.macos_and_major & kMacosBit) != 0;
  library_.patch = header_.patch;
  library_.stub = (header_.stub_and_type & kStubBit) != 0;
  library_.file_type = header_.stub_and_type & ~kStubBit;
  library_.is_64bit = (header_.wide_and_platform & kWideBit) != 0;
  library_.platform = header_.wide_and_platform & ~kWideBit;
  library_.os_major = header_.os_major;
  library_.os_minor = header_.os_minor;
  library_.os_patch = header_.os_patch;
  SMELT_TRY_VOID(place(Section::public_metadata, header_.public_metadata.offset, header_.public_metadata.size));
  SMELT_TRY_VOID(place(Section::private_metadata, header_.private_metadata.offset, header_.private_metadata.size));
  return place(Section::bitcode, header_.bitcode.offset, header_.bitcode.size);
}

Result<void> Reader::check_version() {
  const uint16_t major = header_.macos_and_major & ~kMacosBit, minor = header_.minor, patch = header_.patch;
  if (major == kContainerMajor && minor == kContainerMinor && patch >= kOldestPatch && patch <= kNewestPatch) return {};
  const bool newer = major > kContainerMajor || (major == kContainerMajor && minor > kContainerMinor) ||
                     (major == kContainerMajor && minor == kContainerMinor && patch > kNewestPatch);
  if (!newer)
    return fail(Errc::unsupported, "container {}.{}.{}; want {}.{}.{} or later", major, minor, patch, kContainerMajor,
                kContainerMinor, kOldestPatch);
  // The model has no room for another major or minor; their shape is anyone's guess.
  if (options_.allow_newer && major == kContainerMajor && minor == kContainerMinor) return {};
  return fail(Errc::format_newer, "container {}.{}.{} is newer than {}.{}.{}, the newest known", major, minor, patch,
              kContainerMajor, kContainerMinor, kNewestPatch);
}

Result<void> Reader::place(Section section, uint64_t offset, uint64_t size) {
  if (offset < sizeof(Header) || offset > image_.size() || size > image_.size() - offset)
    return fail(Errc::corrupt, "{}: {} bytes at byte {} are not inside the library's {} bytes behind its header",
                to_string(section), size, offset, image_.size());
  found_.push_back({section, offset, size});
  return {};
}

Result<void> Reader::read_list_and_extension() {
  const uint64_t at = header_.function_list.offset, size = header_.function_list.size;
  // The size leaves out the u32 count.
  if (size > image_.size() || at < sizeof(Header) || at > image_.size() || size + 4 > image_.size() - at)
    return fail(Errc::corrupt, "function list: {} + 4 bytes at byte {} are not inside the library's {} bytes", size, at,
                image_.size());
  SMELT_TRY(FunctionList list, read_function_list(image_.subspan(at, size + 4), at));
  library_.functions = std::move(list.functions);
  links_ = std::move(list.links);

  // The extension runs from there to the next section; nothing but zeros there means that there is none.
  const uint64_t list_end = at + 4 + size;
  uint64_t end = image_.size();
  for (const Found& found : found_)
    if (found.offset >= list_end) end = std::min(end, found.offset);
  const ByteView between = image_.subspan(list_end, end - list_end);
  if (between.empty() || between[0] == std::byte{0}) return place(Section::functions, at, size + 4);
  return read_extension(list_end, end);
}

Result<void> Reader::read_extension(uint64_t at, uint64_t end) {
  Cursor cursor(image_.subspan(at, end - at), "header extension", at);
  SMELT_TRY(const std::vector<RawTag> tags, read_tags(cursor, TagList::extension, "header extension"));
  std::bitset<kSectionCount> seen;
  library_.extension.emplace();
  for (const RawTag& raw : tags) {
    const auto section = section_of(raw.name);
    if ((section || raw.name == tag::uuid) && raw.payload.size() != 16)
      return fail(Errc::corrupt, "header extension: {} at byte {} has {} bytes, want 16", raw.name.text(), raw.at,
                  raw.payload.size());
    library_.extension->push_back({raw.name, section ? ByteView{} : raw.payload});
    if (!section) continue;
    if (seen[static_cast<size_t>(*section)])
      return fail(Errc::corrupt, "header extension: {} at byte {} names the {} a second time", raw.name.text(), raw.at,
                  to_string(*section));
    seen.set(static_cast<size_t>(*section));
    SMELT_TRY_VOID(place(*section, load_le<uint64_t>(raw.payload.data()), load_le<uint64_t>(raw.payload.data() + 8)));
    named_.emplace_back(found_.back(), raw.name);
  }
  const uint64_t list_at = header_.function_list.offset;
  return place(Section::functions, list_at, at + cursor.position() - list_at);
}

/// OFFT, SOFF, RFLT: from an offset to the index of what starts there.
Result<uint32_t> index_at(const std::vector<uint64_t>& starts, uint64_t offset, const Function& function, size_t index,
                          Fourcc name, std::string_view what) {
  const auto found = std::lower_bound(starts.begin(), starts.end(), offset);
  if (found == starts.end() || *found != offset)
    return fail(Errc::corrupt, "{}: {} says {}, where no {} starts", describe(function, index), name.text(), offset,
                what);
  return static_cast<uint32_t>(found - starts.begin());
}

Result<void> Reader::read_both_metadata() {
  const Found public_found = find(Section::public_metadata), private_found = find(Section::private_metadata);
  SMELT_TRY(Metadata open, read_metadata(bytes_of(public_found), public_found.offset, "public metadata"));
  SMELT_TRY(Metadata closed, read_metadata(bytes_of(private_found), private_found.offset, "private metadata"));
  for (size_t i = 0; i < library_.functions.size(); ++i) {
    Function& f = library_.functions[i];
    SMELT_TRY(f.public_group,
              index_at(open.offsets, links_[i].public_offset, f, i, tag::offsets, "public metadata group"));
    SMELT_TRY(f.private_group,
              index_at(closed.offsets, links_[i].private_offset, f, i, tag::offsets, "private metadata group"));
  }
  library_.public_metadata = std::move(open.groups);
  library_.private_metadata = std::move(closed.groups);
  return {};
}

Result<void> Reader::read_modules() {
  const Found section = find(Section::bitcode);
  // Without MDSZ a module ends where the next one starts.
  std::vector<uint64_t> starts;
  for (const Links& links : links_) starts.push_back(links.module_offset);
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());

  std::vector<std::optional<uint64_t>> sizes(starts.size());
  for (size_t i = 0; i < links_.size(); ++i) {
    const uint64_t start = links_[i].module_offset;
    const auto describe_this = [&] { return describe(library_.functions[i], i); };
    if (start > section.size)
      return fail(Errc::corrupt, "{}: module at {} of the bitcode section, which has {} bytes", describe_this(), start,
                  section.size);
    const size_t k = std::lower_bound(starts.begin(), starts.end(), start) - starts.begin();
    const uint64_t next = k + 1 < starts.size() ? std::min(starts[k + 1], section.size) : section.size;
    const uint64_t size = links_[i].module_size.value_or(next - start);
    if (size > section.size - start)
      return fail(Errc::corrupt, "{}: module of {} bytes at {} of the bitcode section, which has {}", describe_this(),
                  size, start, section.size);
    if (sizes[k] && *sizes[k] != size)
      return fail(Errc::corrupt, "{}: module at {} of the bitcode section has {} bytes here, {} for another function",
                  describe_this(), start, size, *sizes[k]);
    sizes[k] = size;
    library_.functions[i].module = static_cast<uint32_t>(k);
  }

  uint64_t end = 0;
  for (size_t k = 0; k < starts.size(); ++k) {
    if (starts[k] != end)
      return fail(Errc::corrupt,
                  "bitcode: module at {} of the section, the one before ends at {} (byte {} of the file)", starts[k],
                  end, section.offset + end);
    const ByteView blob = image_.subspan(section.offset + starts[k], *sizes[k]);
    SMELT_TRY_VOID(check_blob(blob, section.offset + starts[k]));
    library_.modules.push_back({blob});
    end = starts[k] + *sizes[k];
  }
  if (end != section.size)
    return fail(Errc::corrupt, "bitcode: {} bytes at byte {} belong to no function", section.size - end,
                section.offset + end);
  return {};
}

Result<void> Reader::read_named_sections() {
  for (const auto& [found, name] : named_) SMELT_TRY_VOID(read_named_section(found, name));
  for (size_t i = 0; i < links_.size(); ++i) {
    Function& f = library_.functions[i];
    if (!library_.sources) f.source = links_[i].source_offset;
    if (links_[i].reflection_offset && !library_.reflection)
      return fail(Errc::corrupt, "{}: RFLT, and no reflection list", describe(f, i));
  }
  return {};
}

Result<void> Reader::read_named_section(const Found& found, Fourcc name) {
  const ByteView bytes = bytes_of(found);
  if (found.section == Section::sources) {
    SMELT_TRY(SourceList list, read_sources(bytes, found.offset, name == tag::sources_with_directory));
    for (size_t i = 0; i < links_.size(); ++i) {
      if (!links_[i].source_offset) continue;
      Function& f = library_.functions[i];
      SMELT_TRY(f.source, index_at(list.offsets, *links_[i].source_offset, f, i, tag::source_offset, "source archive"));
    }
    library_.sources = std::move(list.sources);
  } else if (found.section == Section::reflection) {
    SMELT_TRY(ReflectionList list, read_reflection(bytes, found.offset));
    for (size_t i = 0; i < links_.size(); ++i) {
      if (!links_[i].reflection_offset) continue;
      Function& f = library_.functions[i];
      SMELT_TRY(f.reflection,
                index_at(list.offsets, *links_[i].reflection_offset, f, i, tag::reflection_offset, "reflection entry"));
    }
    library_.reflection = std::move(list.reflection);
  } else if (found.section == Section::dynamic_header) {
    SMELT_TRY(library_.dynamic_header, read_dynamic_header(bytes, found.offset));
  } else if (found.section == Section::variables) {
    library_.variables = bytes;
  } else if (found.section == Section::imports) {
    library_.imports = bytes;
  } else if (found.section == Section::scripts) {
    library_.scripts = bytes;
  }
  return {};
}

Result<void> Reader::explain_every_byte() {
  std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
    return std::tuple(a.offset, a.size, a.section) < std::tuple(b.offset, b.size, b.section);
  });
  uint64_t end = sizeof(Header);
  std::string_view before = "header";
  const auto padding = [&](uint64_t next, std::string_view what) -> Result<uint32_t> {
    if (next < end)
      return fail(Errc::corrupt, "{} at byte {} overlaps the {}, which ends at byte {}", what, next, before, end);
    if (next - end >= kMaxPadding || !all_zero(image_.subspan(end, next - end)))
      return fail(Errc::corrupt, "{} bytes at byte {}, between {} and {}, that nothing explains", next - end, end,
                  before, what);
    return static_cast<uint32_t>(next - end);
  };
  for (const Found& found : found_) {
    SMELT_TRY(const uint32_t zeros, padding(found.offset, to_string(found.section)));
    library_.order.push_back({found.section, zeros});
    end = found.offset + found.size;
    before = to_string(found.section);
  }
  SMELT_TRY(library_.padding_after, padding(image_.size(), "end of file"));
  if (library_.order == library_.standard_order()) library_.order.clear();
  return {};
}

Result<void> Reader::check_hashes() const {
  std::vector<std::optional<Digest>> digests(library_.modules.size());
  for (size_t i = 0; i < library_.functions.size(); ++i) {
    const Function& function = library_.functions[i];
    std::optional<Digest>& digest = digests[function.module];
    if (!digest) digest = sha256(library_.module_of(function).blob);
    if (*digest != function.hash)
      return fail(Errc::corrupt, "{}: HASH is {}, its module hashes to {}", describe(function, i),
                  to_hex(function.hash), to_hex(*digest));
  }
  return {};
}

}  // namespace

Result<Library> read(ByteView image, const ReadOptions& options) {
  return Reader(image, options).read();
}

Result<Library> read_owned(Bytes image, ReadOptions options) {
  auto owner = std::make_shared<const Bytes>(std::move(image));
  options.owner = owner;
  return read(*owner, options);
}

}  // namespace smelt::metallib
