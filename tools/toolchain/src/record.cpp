// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "record.hpp"

#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/writer.hpp"

#include "archive_library.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <set>

namespace smelt::toolchain {
namespace {

constexpr std::string_view kMark = "SMLTSRC1";

std::string working_folder() {
  std::error_code ignored;
  return std::filesystem::current_path(ignored).string();
}

la_ssize_t append(archive*, void* to, const void* bytes, size_t size) {
  const auto* const begin = static_cast<const std::byte*>(bytes);
  static_cast<Bytes*>(to)->insert(static_cast<Bytes*>(to)->end(), begin, begin + size);
  return static_cast<la_ssize_t>(size);
}

/// A tar in bzip2, in memory.
class TarWriter {
 public:
  explicit TarWriter(const ArchiveLibrary& library) : lib_(library), tar_(library.write_new(), library.write_free) {}
  Result<void> open() {
    lib_.write_set_format_pax_restricted(tar_.get());  // ustar, but for names that are too long for it
    lib_.write_set_bytes_in_last_block(tar_.get(), 1);
    if (lib_.write_add_filter_bzip2(tar_.get()) != ARCHIVE_OK) return failed();
    if (lib_.write_open2(tar_.get(), &bytes_, nullptr, append, nullptr, nullptr) != ARCHIVE_OK) return failed();
    return {};
  }
  Result<void> add(const std::string& path, ByteView bytes) {
    const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(lib_.entry_new(), lib_.entry_free);
    lib_.entry_set_pathname(entry.get(), path.c_str());
    lib_.entry_set_filetype(entry.get(), AE_IFREG);
    lib_.entry_set_perm(entry.get(), 0644);
    lib_.entry_set_mtime(entry.get(), 0, 0);
    lib_.entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
    if (lib_.write_header(tar_.get(), entry.get()) != ARCHIVE_OK) return failed();
    const la_ssize_t put = lib_.write_data(tar_.get(), bytes.data(), bytes.size());
    return put == static_cast<la_ssize_t>(bytes.size()) ? Result<void>() : failed();
  }
  Result<Bytes> finish() {
    if (lib_.write_close(tar_.get()) != ARCHIVE_OK) return tl::unexpected(failed().error());
    return std::move(bytes_);
  }

 private:
  Result<void> failed() const {
    const char* why = lib_.error_string(tar_.get());
    return fail(Errc::io, "sources cannot be recorded: {}", why == nullptr ? "no reason given" : why);
  }
  const ArchiveLibrary& lib_;
  Bytes bytes_;
  std::unique_ptr<archive, decltype(&archive_write_free)> tar_;
};

}  // namespace

Result<Bytes> pack_sources(const CompileRecord& record) {
  SMELT_TRY(const ArchiveLibrary* const library, archive_library());
  TarWriter tar(*library);
  const std::string folder = working_folder();
  SMELT_TRY_VOID(tar.open());
  SMELT_TRY_VOID(tar.add("metal-options.txt", as_bytes(record.command + "\n")));
  SMELT_TRY_VOID(tar.add("metal-working-dir.txt", as_bytes(folder + "\n")));
  SMELT_TRY_VOID(tar.add("original-input-filename.txt", as_bytes(record.object + "\n")));
  std::set<std::string> added;
  for (const auto& [path, bytes] : record.files) {
    const std::string whole = (std::filesystem::path(folder) / path).lexically_normal().string();
    if (added.insert(whole).second) SMELT_TRY_VOID(tar.add(whole, bytes));
  }
  return tar.finish();
}

Bytes with_sources(Bytes object, ByteView archive) {
  std::array<std::byte, 8> size;
  store_le(size.data(), static_cast<uint64_t>(archive.size()));
  for (const ByteView part : {as_bytes(kMark), ByteView(size), archive})
    object.insert(object.end(), part.begin(), part.end());
  return object;
}

Result<ObjectParts> object_parts(ByteView file, std::string_view name) {
  constexpr size_t kWrapper = 20;
  if (file.size() < kWrapper || load_le<uint32_t>(file.data()) != 0x0B17C0DE) return ObjectParts{file, std::nullopt};
  const uint64_t end = uint64_t{load_le<uint32_t>(file.data() + 8)} + load_le<uint32_t>(file.data() + 12);
  size_t at = static_cast<size_t>(std::min<uint64_t>(end, file.size()));
  while (at < file.size() && file[at] == std::byte{0}) ++at;  // padding
  const std::string_view rest = as_text(file.subspan(at));
  if (rest.empty() || !(rest.starts_with(kMark) || kMark.starts_with(rest))) return ObjectParts{file, std::nullopt};
  constexpr size_t kFront = kMark.size() + 8;
  if (rest.size() < kFront || load_le<uint64_t>(file.data() + at + kMark.size()) != rest.size() - kFront)
    return fail(Errc::truncated, "{}: the sources that were recorded in it are not whole", name);
  return ObjectParts{file.first(at), file.subspan(at + kFront)};
}

Result<Bytes> attach_sources(ByteView library, const std::string& command,
                             const std::map<std::string, ByteView>& of_function) {
  SMELT_TRY(metallib::Library made, metallib::read(library));
  const std::string folder = working_folder();
  metallib::Sources sources{command, folder, {}};
  std::map<const std::byte*, uint64_t> known;  // functions of one compile share its archive
  for (metallib::Function& function : made.functions) {
    const auto found = of_function.find(function.name);
    if (found == of_function.end()) continue;
    const auto [place, is_new] = known.emplace(found->second.data(), sources.archives.size());
    if (is_new) {
      Bytes payload = to_bytes(as_bytes(fmt::format("{}", place->second)));
      payload.push_back(std::byte{0});
      payload.insert(payload.end(), found->second.begin(), found->second.end());
      sources.archives.push_back({{metallib::tag::source_archive, made.keep(std::move(payload))}});
    }
    function.source = place->second;
    function.tags.push_back({metallib::tag::source_offset, {}});
  }
  if (sources.archives.empty()) return to_bytes(library);
  made.sources = std::move(sources);
  if (!made.extension) made.extension.emplace();
  made.extension->insert(made.extension->begin(), {metallib::tag::sources_with_directory, {}});
  made.order.clear();
  return metallib::write(made);
}

Result<Bytes> without_sources(ByteView library) {
  SMELT_TRY(metallib::Library made, metallib::read(library));
  if (!made.sources) return to_bytes(library);
  made.sources.reset();
  const auto drop = [](std::vector<metallib::Tag>& tags, metallib::Fourcc name) {
    std::erase_if(tags, [&](const metallib::Tag& tag) { return tag.name == name; });
  };
  for (metallib::Function& function : made.functions) {
    function.source.reset();
    drop(function.tags, metallib::tag::source_offset);
  }
  if (made.extension) {
    drop(*made.extension, metallib::tag::sources);
    drop(*made.extension, metallib::tag::sources_with_directory);
  }
  made.order.clear();
  return metallib::write(made);
}

Result<std::map<std::string, ByteView>> sources_of_library(ByteView library) {
  std::map<std::string, ByteView> of_function;
  SMELT_TRY(const metallib::Library read, metallib::read(library));
  if (!read.sources) return of_function;
  for (const metallib::Function& function : read.functions) {
    if (!function.source || *function.source >= read.sources->archives.size()) continue;
    const auto& tags = read.sources->archives[static_cast<size_t>(*function.source)];
    const metallib::Tag* tag = metallib::find_tag(tags, metallib::tag::source_archive);
    if (tag == nullptr) continue;
    const size_t end = as_text(tag->payload).find('\0');
    if (end != std::string_view::npos) of_function.emplace(function.name, tag->payload.subspan(end + 1));
  }
  return of_function;
}

}  // namespace smelt::toolchain
