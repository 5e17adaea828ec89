// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From bytes or source to a library. Its kernels are compiled one by one, when their pipeline is made.
#include "smelt/base/files.hpp"
#include "smelt/base/near_names.hpp"

#include "Metal/Metal.hpp"
#include "binary_archive.hpp"
#include "compile_options.hpp"
#include "device_model.hpp"
#include "library_object.hpp"
#include "settings.hpp"
#include "stored_code.hpp"
#include "validation.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <thread>

namespace smelt::metal {
namespace {

namespace fs = std::filesystem;

loader::LoadOptions options_for(const DeviceObject& device) {
  loader::LoadOptions options;
  options.checked = device.checked;
  options.allow_empty = true;
  return options;
}

Result<NS::SharedPtr<LibraryObject>> load_metallib(DeviceObject& device, const loader::OwnedBytes& metallib) {
  loader::LoadOptions options = options_for(device);
  options.allow_no_code = true;
  SMELT_TRY(auto names, loader::Library::load(device.loader, metallib, options));
  auto code = code_of(metallib, names->digest(), device.level, device.checked);
  return NS::TransferPtr(new LibraryObject(device, std::move(names), std::move(code), [metallib] { return metallib; }));
}

Result<loader::OwnedBytes> read_owned(const std::string& path) {
  SMELT_TRY(auto bytes, read_file(path));
  const auto owner = std::make_shared<const Bytes>(std::move(bytes));
  return loader::OwnedBytes{*owner, owner};
}

MTL::Library* give(Result<NS::SharedPtr<LibraryObject>> library, NS::Error** error) {
  if (!library) return library_error(error, library.error());
  LibraryObject* const made = library->get();
  library->detach();
  return made;
}

MTL::Library* open_file(DeviceObject& device, const std::string& path, NS::Error** error) {
  auto bytes = read_owned(path);
  if (!bytes) return library_error(error, bytes.error());
  return give(load_library(device, *bytes, path), error);
}

/// Whether the source may have visible functions: their attribute is a word of its own, perhaps in a macro.
bool has_visible(std::string_view text) {
  constexpr std::string_view kWord = "visible";
  const auto in_name = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (size_t at = 0; (at = text.find(kWord, at)) != std::string_view::npos; at += kWord.size()) {
    const size_t end = at + kWord.size();
    if ((at == 0 || !in_name(text[at - 1])) && (end == text.size() || !in_name(text[end]))) return true;
  }
  return false;
}

Result<NS::SharedPtr<LibraryObject>> compile_source(DeviceObject& device, const SourceRequest& request) {
  const std::optional<Digest> key = has_visible(request.text) ? std::nullopt : key_of(request);
  if (key) {
    SMELT_TRY(auto kernels, kernels_of(request, *key, device.level, device.checked));
    const auto compile = [request]() -> Result<loader::OwnedBytes> {
      SMELT_TRY(const auto package, compiled_source(request));
      return metallib_of(package.bytes, request.target);
    };
    return NS::TransferPtr(new LibraryObject(device, std::move(kernels), compile));
  }
  // Nothing here tells whether files that it includes have changed: the compiler does, and has all of it at once. Of
  // source, kernels alone are known; a Metal library has its visible functions.
  SMELT_TRY(const auto package, compiled_source(request));
  SMELT_TRY(const auto metallib, metallib_of(package.bytes, request.target));
  return load_metallib(device, metallib);
}

MTL::LibraryError code_of(Errc code) {
  switch (code) {
    case Errc::compile_failed:
    case Errc::empty_library:
    case Errc::pipeline_failed:
    case Errc::source_type:
      return MTL::LibraryErrorCompileFailure;
    case Errc::function_not_found:
      return MTL::LibraryErrorFunctionNotFound;
    case Errc::file_not_found:
    case Errc::not_cached:
      return MTL::LibraryErrorFileNotFound;
    case Errc::unsupported:
    case Errc::unsupported_language:
    case Errc::unsupported_platform:
    case Errc::unsupported_family:
      return MTL::LibraryErrorUnsupported;
    default:
      return MTL::LibraryErrorInternal;
  }
}

/// The library that newDefaultLibrary stands for; empty when there is none.
std::string default_library_in(const std::string& folder) {
  if (const std::string path = setting("SMELT_METAL_LIBRARY"); !path.empty()) return path;
  std::error_code none;
  for (const char* name : {"default.metallib", "default.smelt"})
    for (const fs::path& place : {fs::path(folder) / name, fs::path(folder) / "Resources" / name})
      if (fs::exists(place, none)) return place.string();
  return {};
}

}  // namespace

std::nullptr_t library_error(NS::Error** out, const Error& error) {
  return fail_with(out, "MTLLibraryErrorDomain", static_cast<NS::Integer>(code_of(error.code)), error.message);
}

LibraryObject::LibraryObject(DeviceObject& on, loader::LibraryRef library, KernelCodeRef code, MakeMetallib make)
    : device(on), make_metallib(std::move(make)), library_(std::move(library)), code_(std::move(code)) {
  const auto names = library_->function_names();
  names_.assign(names.begin(), names.end());
}

LibraryObject::LibraryObject(DeviceObject& on, SourceKernels source, MakeMetallib make)
    : device(on), make_metallib(std::move(make)), name_texts_(std::move(source.names)), code_(std::move(source.code)) {
  names_.assign(name_texts_.begin(), name_texts_.end());
}

Result<FunctionKind> LibraryObject::kind_of(std::string_view function) const {
  if (library_) return library_->function(function).map([](const loader::FunctionRef& found) { return found->kind(); });
  if (std::find(names_.begin(), names_.end(), function) == names_.end()) return no_function(function, names_);
  return FunctionKind::kernel;  // the compiler makes no others of source
}

Result<loader::FunctionRef> LibraryObject::described(const std::string& function) {
  if (library_) return library_->function(function);
  return with_code(function).and_then([&](const loader::LibraryRef& made) { return made->function(function); });
}

Result<loader::LibraryRef> LibraryObject::with_code(const std::string& kernel, const NS::Array* archives, bool only) {
  if (!code_) return library_;
  if (archives != nullptr && archives->count() != 0) {
    const Digest key = code_->key(kernel, lasting_effort());
    for (NS::UInteger i = 0; i < archives->count(); ++i)
      if (auto found = from(archives->object<MTL::BinaryArchive>(i)).find(key)) return std::move(*found);
  }
  if (only) return fail(Errc::not_cached, "kernel '{}' is in none of the pipeline's binary archives", kernel);
  std::shared_ptr<Slot> slot;
  {
    const std::lock_guard guard(mutex_);
    std::shared_ptr<Slot>& kept = kernels_[kernel];
    if (!kept) kept = std::make_shared<Slot>();
    slot = kept;
  }
  std::call_once(slot->once, [&] { slot->library = library_of(device, code_, kernel); });
  return slot->library;
}

Result<NS::SharedPtr<LibraryObject>> load_library(DeviceObject& device, const loader::OwnedBytes& bytes,
                                                  const std::string& path) {
  const std::string_view magic = as_text(bytes.bytes).substr(0, 4);
  auto loaded = [&]() -> Result<NS::SharedPtr<LibraryObject>> {
    if (magic != "SMLT") return load_metallib(device, bytes);
    auto library = loader::Library::load(device.loader, bytes, options_for(device));
    const auto find_metallib = [bytes] { return metallib_of(bytes, device_model().compile_target()); };
    if (library) return NS::TransferPtr(new LibraryObject(device, std::move(*library), nullptr, find_metallib));
    // No code for this CPU, or none that may be used: from its Metal library then.
    auto metallib = find_metallib();
    if (!metallib) return tl::unexpected(std::move(library).error());
    return load_metallib(device, *metallib);
  }();
  if (!loaded && !path.empty()) return tl::unexpected(std::move(loaded).error().in(path));
  return loaded;
}

}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

Library* Device::newDefaultLibrary() {
  return newDefaultLibrary(NS::Bundle::mainBundle(), nullptr);
}
Library* Device::newDefaultLibrary(const NS::Bundle* bundle, NS::Error** error) {
  const std::string folder = bundle != nullptr ? text_of(bundle->bundlePath()) : "";
  const std::string path = default_library_in(folder);
  if (path.empty())
    return fail_with(error, "MTLLibraryErrorDomain", LibraryErrorFileNotFound,
                     fmt::format("no default library: SMELT_METAL_LIBRARY is not set, and '{}' has neither "
                                 "default.metallib nor default.smelt",
                                 folder));
  return open_file(from(this), path, error);
}
Library* Device::newLibrary(const NS::String* filepath, NS::Error** error) {
  if (filepath == nullptr) return misuse("-[MTLDevice newLibraryWithFile:error:]", "filepath is null"), nullptr;
  return open_file(from(this), filepath->text(), error);
}
Library* Device::newLibrary(const NS::URL* url, NS::Error** error) {
  if (url == nullptr) return misuse("-[MTLDevice newLibraryWithURL:error:]", "url is null"), nullptr;
  return open_file(from(this), url->fileSystemRepresentation(), error);
}
Library* Device::newLibrary(const dispatch_data_t data, NS::Error** error) {
  constexpr const char* kCall = "-[MTLDevice newLibraryWithData:error:]";
  if (data == nullptr) return misuse(kCall, "data is null"), nullptr;
  // Whoever has such an object has brought the library that it is of.
  using Map = dispatch_data_t(dispatch_data_t, const void**, size_t*);
  using Release = void(void*);
  auto* const map = reinterpret_cast<Map*>(::dlsym(RTLD_DEFAULT, "dispatch_data_create_map"));
  auto* const release = reinterpret_cast<Release*>(::dlsym(RTLD_DEFAULT, "dispatch_release"));
  if (map == nullptr || release == nullptr) return misuse(kCall, "this process has no libdispatch"), nullptr;
  const void* bytes = nullptr;
  size_t size = 0;
  const dispatch_data_t mapped = map(data, &bytes, &size);
  const auto copy = smelt::loader::copy_of({static_cast<const std::byte*>(bytes), size});
  release(mapped);
  return give(load_library(from(this), copy, {}), error);
}
Library* Device::newLibrary(const NS::Data* data, NS::Error** error) {
  if (data == nullptr) return misuse("-[MTLDevice newLibraryWithData:error:]", "data is null"), nullptr;
  return give(load_library(from(this),
                           smelt::loader::copy_of({static_cast<const std::byte*>(data->bytes()), data->length()}), {}),
              error);
}

Library* Device::newLibrary(const NS::String* source, const CompileOptions* options, NS::Error** error) {
  constexpr const char* kCall = "-[MTLDevice newLibraryWithSource:options:error:]";
  if (source == nullptr) return misuse(kCall, "source is null"), nullptr;
  auto request = source_request(source->text(), options);
  if (!request) return library_error(error, request.error());
  return give(compile_source(from(this), *request), error);
}
void Device::newLibrary(const NS::String* source, const CompileOptions* options,
                        const NewLibraryCompletionHandler& completionHandler) {
  const auto text = NS::RetainPtr(const_cast<NS::String*>(source));
  const auto with = NS::TransferPtr(options != nullptr ? options->copy() : nullptr);
  std::thread([this, text, with, completionHandler] {
    const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    NS::Error* error = nullptr;
    const auto library = NS::TransferPtr(newLibrary(text.get(), with.get(), &error));
    completionHandler(library.get(), error);
  }).detach();
}

SMELT_LABEL_AND_DEVICE(Library, from(this).label, &from(this).device)
NS::Data* Library::libraryDataContents() const {
  const auto metallib = from(this).make_metallib();
  return metallib ? NS::Data::data(metallib->bytes.data(), metallib->bytes.size()) : nullptr;
}
NS::Array* Library::functionNames() const {
  std::vector<NS::Object*> names;
  for (const std::string_view name : from(this).names()) names.push_back(string_of(name));
  return array_of(names);
}

}  // namespace MTL
