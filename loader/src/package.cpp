// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/files.hpp"

#include "library_data.hpp"

namespace smelt::loader {
namespace {

Result<schema::LibraryView> find_library(const Package::Data& data, std::string_view name) {
  const auto index = data.package.find_library(name);
  if (index) return data.package.library(*index);
  std::string known;
  for (std::string_view other : data.names) known += fmt::format("{}'{}'", known.empty() ? "" : ", ", other);
  return fail(Errc::invalid_argument, "the package has no library '{}'; it has {}", name,
              known.empty() ? "none" : known);
}

}  // namespace

Package::Package(std::unique_ptr<Data> data) : data_(std::move(data)) {}
Package::~Package() = default;

Result<PackageRef> Package::open(OwnedBytes bytes) {
  SMELT_TRY(schema::Package package, schema::Package::open(bytes.bytes));
  auto data = std::make_unique<Data>(Data{std::move(bytes), package, {}});
  for (uint32_t i = 0; i < data->package.library_count(); ++i) data->names.push_back(data->package.library(i).name);
  return PackageRef(new Package(std::move(data)));
}

Result<PackageRef> Package::open_file(const std::filesystem::path& path) {
  SMELT_TRY(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  auto package = open({file->bytes(), file});
  if (!package) return tl::unexpected(std::move(package).error().in(path.string()));
  return package;
}

std::span<const std::string_view> Package::names() const {
  return data_->names;
}

const Digest& Package::digest() const {
  return data_->package.digest();
}

Result<ByteView> Package::attachment(std::string_view library, std::string_view name) const {
  SMELT_TRY(const schema::LibraryView rows, find_library(*data_, library));
  for (uint32_t i = 0; i < rows.attachments.count; ++i) {
    const schema::AttachmentView attachment = data_->package.attachment(rows.attachments.first + i);
    if (attachment.name != name) continue;
    SMELT_TRY_VOID(schema::check_part(attachment.part, name));
    return attachment.part.bytes;
  }
  return fail(Errc::invalid_argument, "library '{}' has no attachment '{}'", library, name);
}

std::vector<std::string> Package::attachment_names(std::string_view library) const {
  std::vector<std::string> names;
  if (const auto rows = find_library(*data_, library))
    for (uint32_t i = 0; i < rows->attachments.count; ++i)
      names.emplace_back(data_->package.attachment(rows->attachments.first + i).name);
  return names;
}

std::string MissingKernel::text() const {
  return fmt::format("kernel '{}' has no code for {}: {}", kernel, target, reason);
}

std::vector<MissingKernel> Package::missing_cpu_code() const {
  const schema::Package& package = data_->package;
  std::vector<MissingKernel> missing;
  for (uint32_t l = 0; l < package.library_count(); ++l) {
    const schema::LibraryView library = package.library(l);
    for (uint32_t s = 0; s < library.slices.count; ++s) {
      const schema::SliceView slice = package.slice(library.slices.first + s);
      if (slice.kind != schema::SliceKind::cpu) continue;
      for (uint32_t i = 0; i < library.functions.count; ++i) {
        const schema::FunctionView function = package.function(library.functions.first + i);
        const schema::PresenceView presence = package.presence(slice.first_presence + i);
        if (presence.missing && function.kind == FunctionKind::kernel)
          missing.push_back({slice.target, function.name, presence.reason});
      }
    }
  }
  return missing;
}

std::string_view Package::version(std::string_view library) const {
  const auto rows = find_library(*data_, library);
  return rows ? rows->version : std::string_view();
}

std::vector<std::string> Package::tags(std::string_view library) const {
  std::vector<std::string> tags;
  if (const auto rows = find_library(*data_, library))
    for (uint32_t i = 0; i < rows->tags.count; ++i) tags.emplace_back(data_->package.tag(rows->tags.first + i));
  return tags;
}

Result<ByteView> Package::metallib(std::string_view library, std::string_view target) const {
  SMELT_TRY(const schema::LibraryView rows, find_library(*data_, library));
  std::string known;
  for (uint32_t i = 0; i < rows.slices.count; ++i) {
    const schema::SliceView slice = data_->package.slice(rows.slices.first + i);
    if (slice.kind != schema::SliceKind::metallib) continue;
    if (slice.target == target) {
      SMELT_TRY_VOID(schema::check_part(slice.part, target));
      return slice.part.bytes;
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", slice.target);
  }
  return fail(Errc::invalid_argument, "library '{}' has no metallib for '{}'; it has {}", library, target,
              known.empty() ? "none" : known);
}

}  // namespace smelt::loader
