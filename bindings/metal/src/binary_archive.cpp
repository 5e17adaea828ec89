// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "binary_archive.hpp"

#include "smelt/base/files.hpp"
#include "smelt/schema/package.hpp"

#include "Metal/Metal.hpp"
#include "holder.hpp"
#include "library_object.hpp"
#include "validation.hpp"

namespace smelt::metal {

std::optional<Result<loader::LibraryRef>> ArchiveObject::find(const Digest& key) const {
  loader::LoadOptions options;
  options.checked = device->checked;
  {
    const std::lock_guard guard(mutex_);
    if (const auto found = added_.find(key); found != added_.end()) {
      options.policy = signing::Policy::all();  // made here
      return loader::Library::load(device->loader, found->second, options);
    }
  }
  if (!opened) return std::nullopt;
  options.library = to_hex(key);
  for (const std::string_view name : opened->names())
    if (name == options.library) return loader::Library::load(device->loader, opened, options);
  return std::nullopt;
}

void ArchiveObject::add(const Digest& key, const loader::OwnedBytes& package) {
  const std::lock_guard guard(mutex_);
  added_.emplace(key, package);
}

Result<Bytes> ArchiveObject::package() const {
  std::vector<schema::Library> libraries;
  const auto take = [&](ByteView from, const std::optional<Digest>& key) -> Result<void> {
    SMELT_TRY(const auto package, schema::Package::open(from));
    for (uint32_t i = 0; i < package.library_count(); ++i) {
      SMELT_TRY(auto library, package.copy_library(i));
      if (key) library.name = to_hex(*key);
      const auto same = [&](const schema::Library& other) { return other.name == library.name; };
      if (std::none_of(libraries.begin(), libraries.end(), same)) libraries.push_back(std::move(library));
    }
    return {};
  };
  const std::lock_guard guard(mutex_);
  for (const auto& [key, package] : added_) SMELT_TRY_VOID(take(package.bytes, key));
  if (opened) SMELT_TRY_VOID(take(bytes.bytes, std::nullopt));
  return schema::write_package(libraries);
}

namespace {

struct ArchiveValues {
  static constexpr std::string_view kClass = "MTLBinaryArchiveDescriptor";
  NS::SharedPtr<NS::URL> url;
};

std::nullptr_t archive_error(NS::Error** out, MTL::BinaryArchiveError code, const std::string& message) {
  return fail_with(out, "MTLBinaryArchiveDomain", static_cast<NS::Integer>(code), message);
}

Result<void> open_file(ArchiveObject& archive, const std::string& path) {
  SMELT_TRY(const auto file, MappedFile::open(path));
  archive.bytes = {file->bytes(), file};
  auto package = loader::Package::open(archive.bytes);
  if (!package) return tl::unexpected(std::move(package).error().in(path));
  archive.opened = std::move(*package);
  return {};
}

}  // namespace
}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

SMELT_DESCRIPTOR(BinaryArchiveDescriptor, ArchiveValues)
SMELT_OBJECT(BinaryArchiveDescriptor, NS::URL, url, setUrl, url)

BinaryArchive* Device::newBinaryArchive(const BinaryArchiveDescriptor* descriptor, NS::Error** error) {
  if (descriptor == nullptr)
    return misuse("-[MTLDevice newBinaryArchiveWithDescriptor:error:]", "descriptor is null"), nullptr;
  auto archive = NS::TransferPtr(new ArchiveObject);
  archive->device = &from(this);
  if (const NS::URL* const url = descriptor->url())
    if (const auto opened = open_file(*archive, url->fileSystemRepresentation()); !opened)
      return archive_error(error, BinaryArchiveErrorInvalidFile, opened.error().message);
  BinaryArchive* const made = archive.get();
  archive.detach();
  return made;
}

SMELT_LABEL_AND_DEVICE(BinaryArchive, from(this).label, from(this).device)
bool BinaryArchive::addComputePipelineFunctions(const ComputePipelineDescriptor* descriptor, NS::Error** error) {
  constexpr const char* kCall = "-[MTLBinaryArchive addComputePipelineFunctionsWithDescriptor:error:]";
  if (descriptor == nullptr || descriptor->computeFunction() == nullptr)
    return misuse(kCall, "the descriptor's computeFunction is null"), false;
  const FunctionObject& function = from(descriptor->computeFunction());
  KernelCode* const code = function.library->code();
  if (code == nullptr) return true;  // the library brings it
  const auto package = lasting_code(*code, function.name);
  if (!package) {
    archive_error(error, BinaryArchiveErrorCompilationFailure, package.error().message);
    return false;
  }
  from(this).add(code->key(function.name, lasting_effort()), *package);
  return true;
}
bool BinaryArchive::serializeToURL(const NS::URL* url, NS::Error** error) {
  if (url == nullptr) return misuse("-[MTLBinaryArchive serializeToURL:error:]", "url is null"), false;
  const auto written = from(this).package().and_then(
      [&](const smelt::Bytes& package) { return smelt::write_file(url->fileSystemRepresentation(), package); });
  if (!written) archive_error(error, BinaryArchiveErrorInternalError, written.error().message);
  return written.has_value();
}

}  // namespace MTL
