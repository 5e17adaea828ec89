// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices, packages and libraries in C.
#include "handles.hpp"

using namespace smelt;
using namespace smelt::loader;
using namespace smelt::c_api;

namespace {

Result<LoadOptions> to_options(const smelt_load_options* given, const char* function) {
  SMELT_TRY(const smelt_load_options from, read_options(given, function));
  LoadOptions options;
  switch (from.verify) {
    case SMELT_VERIFY_STRUCTURE:
      options.verify = Verify::structure;
      break;
    case SMELT_VERIFY_NONE:
      options.verify = Verify::none;
      break;
    case SMELT_VERIFY_DIGEST:
      options.verify = Verify::digest;
      break;
    case SMELT_VERIFY_FULL:
      options.verify = Verify::full;
      break;
    default:
      return fail(Errc::invalid_argument, "{}: verify is {}; want a SMELT_VERIFY_ value", function, from.verify);
  }
  options.allow_empty = from.allow_empty != 0;
  if (from.force_metal[0] != 0 || from.force_metal[1] != 0)
    options.force_metal = Version{from.force_metal[0], from.force_metal[1], 0};
  if (from.expect != nullptr) {
    options.expect.emplace();
    std::memcpy(options.expect->bytes.data(), from.expect, options.expect->bytes.size());
  }
  if (from.library != nullptr) options.library.assign(from.library, from.library_length);
  options.checked = Checks::from_bits(static_cast<uint32_t>(from.checked));
  options.allow_no_code = from.allow_no_code != 0;
  options.native = from.ignore_native == 0;
  if (from.trust < SMELT_TRUST_ENVIRONMENT || from.trust > SMELT_TRUST_SIGNED)
    return fail(Errc::invalid_argument, "{}: trust is {}; want a SMELT_TRUST_ value", function, from.trust);
  if (from.trust != SMELT_TRUST_ENVIRONMENT || from.trusted_keys != nullptr) {
    std::optional<signing::Level> level;
    if (from.trust != SMELT_TRUST_ENVIRONMENT) level = static_cast<signing::Level>(from.trust - SMELT_TRUST_ANY);
    SMELT_TRY(signing::Policy policy, signing::Policy::from_environment_for(signing::Origin::named_path, level));
    if (from.trusted_keys != nullptr) SMELT_TRY_VOID(policy.add_words(from.trusted_keys));
    options.policy = std::make_shared<const signing::Policy>(std::move(policy));
  }
  return options;
}

Result<void> name_at(std::span<const std::string_view> names, size_t index, const char** name, size_t* length,
                     const char* function) {
  if (name == nullptr || length == nullptr) return null_argument(function, "an out-parameter");
  if (index >= names.size()) return fail(Errc::invalid_argument, "{}: index {} of {}", function, index, names.size());
  set_text(names[index], *name, *length);
  return {};
}

}  // namespace

// ---- references ----

void smelt_device_retain(smelt_device* handle) {
  retain(handle);
}
void smelt_device_release(smelt_device* handle) {
  release(handle);
}
void smelt_package_retain(smelt_package* handle) {
  retain(handle);
}
void smelt_package_release(smelt_package* handle) {
  release(handle);
}
void smelt_library_retain(smelt_library* handle) {
  retain(handle);
}
void smelt_library_release(smelt_library* handle) {
  release(handle);
}
void smelt_function_retain(smelt_function* handle) {
  retain(handle);
}
void smelt_function_release(smelt_function* handle) {
  release(handle);
}
void smelt_pipeline_retain(smelt_pipeline* handle) {
  retain(handle);
}
void smelt_pipeline_release(smelt_pipeline* handle) {
  release(handle);
}

// ---- devices ----

smelt_status smelt_device_open(const smelt_device_options* given, smelt_device** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    if (out == nullptr) return null_argument("smelt_device_open", "out");
    SMELT_TRY(const smelt_device_options from, read_options(given, "smelt_device_open"));
    if (from.kind < SMELT_DEVICE_AUTOMATIC || from.kind > SMELT_DEVICE_OFFLINE)
      return fail(Errc::invalid_argument, "smelt_device_open: kind is {}; want a SMELT_DEVICE_ value", from.kind);
    DeviceOptions options;
    options.threads = from.threads;
    if (from.cpu_level != nullptr) options.cpu_level = from.cpu_level;
    options.launch_limit = std::chrono::milliseconds(from.launch_limit_ms);
    if (from.interrupted != nullptr)
      options.interrupted = [ask = from.interrupted, context = from.interrupted_context] { return ask(context) != 0; };
    return give(out, Device::open(static_cast<DeviceKind>(from.kind), options));
  });
}

smelt_status smelt_device_get_info(const smelt_device* device, smelt_device_info* info) {
  return guard([&]() -> Result<void> {
    if (device == nullptr) return null_argument("smelt_device_get_info", "device");
    smelt_device_info filled{};
    filled.kind = static_cast<int32_t>(device->ref->kind());
    set_text(device->ref->name(), filled.name, filled.name_length);
    const Limits& limits = device->ref->limits();
    filled.max_threads_per_threadgroup = limits.max_threads_per_threadgroup;
    filled.max_threadgroup_memory = limits.max_threadgroup_memory;
    filled.thread_execution_width = limits.thread_execution_width;
    filled.limits_estimated = device->ref->limits_estimated() ? 1 : 0;
    filled.buffer_slots = limits.buffer_slots;
    filled.inline_bytes = limits.inline_bytes;
    filled.max_buffer_bytes = limits.max_buffer_bytes;
    filled.memory_bytes = limits.memory_bytes;
    const Target& target = device->ref->target();
    filled.apple_family = target.family;
    filled.metal_version[0] = target.metal.major;
    filled.metal_version[1] = target.metal.minor;
    filled.os_version[0] = target.min_os.major;
    filled.os_version[1] = target.min_os.minor;
    filled.os_version[2] = target.min_os.patch;
    return write_info(info, filled, "smelt_device_get_info");
  });
}

// ---- packages ----

smelt_status smelt_package_open(const void* data, size_t size, smelt_package** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    if (out == nullptr || (data == nullptr && size != 0)) return null_argument("smelt_package_open", "data or out");
    return give(out, Package::open(copy_of({static_cast<const std::byte*>(data), size})));
  });
}

smelt_status smelt_package_open_file(const char* path, smelt_package** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    if (out == nullptr || path == nullptr) return null_argument("smelt_package_open_file", "path or out");
    return give(out, Package::open_file(path));
  });
}

size_t smelt_package_library_count(const smelt_package* package) {
  return package == nullptr ? 0 : package->ref->names().size();
}

smelt_status smelt_package_library_name(const smelt_package* package, size_t index, const char** name, size_t* length) {
  clear(name);
  clear(length);
  return guard([&]() -> Result<void> {
    if (package == nullptr) return null_argument("smelt_package_library_name", "package");
    return name_at(package->ref->names(), index, name, length, "smelt_package_library_name");
  });
}

smelt_status smelt_package_digest(const smelt_package* package, uint8_t* digest) {
  return guard([&]() -> Result<void> {
    if (package == nullptr || digest == nullptr) return null_argument("smelt_package_digest", "package or digest");
    std::memcpy(digest, package->ref->digest().bytes.data(), sizeof(Digest::bytes));
    return {};
  });
}

// ---- libraries ----

smelt_status smelt_library_load(smelt_device* device, const void* data, size_t size, const smelt_load_options* given,
                                smelt_library** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    if (device == nullptr || out == nullptr || (data == nullptr && size != 0))
      return null_argument("smelt_library_load", "device, data or out");
    SMELT_TRY(const LoadOptions options, to_options(given, "smelt_library_load"));
    return give(out, Library::load(device->ref, ByteView{static_cast<const std::byte*>(data), size}, options));
  });
}

smelt_status smelt_library_load_file(smelt_device* device, const char* path, const smelt_load_options* given,
                                     smelt_library** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    if (device == nullptr || path == nullptr || out == nullptr)
      return null_argument("smelt_library_load_file", "device, path or out");
    SMELT_TRY(const LoadOptions options, to_options(given, "smelt_library_load_file"));
    return give(out, Library::load_file(device->ref, path, options));
  });
}

smelt_status smelt_library_load_package(smelt_device* device, smelt_package* package, const smelt_load_options* given,
                                        smelt_library** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    if (device == nullptr || package == nullptr || out == nullptr)
      return null_argument("smelt_library_load_package", "device, package or out");
    SMELT_TRY(const LoadOptions options, to_options(given, "smelt_library_load_package"));
    return give(out, Library::load(device->ref, package->ref, options));
  });
}

size_t smelt_library_function_count(const smelt_library* library) {
  return library == nullptr ? 0 : library->ref->function_names().size();
}

smelt_status smelt_library_function_name(const smelt_library* library, size_t index, const char** name,
                                         size_t* length) {
  clear(name);
  clear(length);
  return guard([&]() -> Result<void> {
    if (library == nullptr) return null_argument("smelt_library_function_name", "library");
    return name_at(library->ref->function_names(), index, name, length, "smelt_library_function_name");
  });
}

smelt_status smelt_library_get_function(smelt_library* library, const char* name, size_t length, smelt_function** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    if (library == nullptr || name == nullptr || out == nullptr)
      return null_argument("smelt_library_get_function", "library, name or out");
    return give(out, library->ref->function({name, length}));
  });
}

smelt_status smelt_library_digest(const smelt_library* library, uint8_t* digest) {
  return guard([&]() -> Result<void> {
    if (library == nullptr || digest == nullptr) return null_argument("smelt_library_digest", "library or digest");
    std::memcpy(digest, library->ref->digest().bytes.data(), sizeof(Digest::bytes));
    return {};
  });
}

smelt_status smelt_library_slice_report(const smelt_library* library, const char** text, size_t* length) {
  clear(text);
  clear(length);
  return guard([&]() -> Result<void> {
    if (library == nullptr || text == nullptr || length == nullptr)
      return null_argument("smelt_library_slice_report", "library, text or length");
    set_text(library->report, *text, *length);
    return {};
  });
}

smelt_status smelt_library_prepare(smelt_library* library, const char* const* names, const size_t* lengths,
                                   size_t count, smelt_progress progress, void* context, size_t* prepared) {
  clear(prepared);
  return guard([&]() -> Result<void> {
    if (library == nullptr || (count != 0 && (names == nullptr || lengths == nullptr)))
      return null_argument("smelt_library_prepare", "library, names or lengths");
    std::vector<std::string_view> wanted;
    for (size_t i = 0; i < count; ++i) {
      if (names[i] == nullptr) return null_argument("smelt_library_prepare", "a name");
      wanted.emplace_back(names[i], lengths[i]);
    }
    std::function<bool(size_t, size_t)> report;
    if (progress != nullptr) report = [&](size_t done, size_t total) { return progress(context, done, total) != 0; };
    SMELT_TRY(const size_t made, library->ref->prepare(wanted, report));
    if (prepared != nullptr) *prepared = made;
    return {};
  });
}

smelt_status smelt_package_prepare(smelt_package* package, smelt_device* device, const smelt_load_options* given,
                                   smelt_progress progress, void* context, smelt_library** libraries,
                                   size_t* prepared) {
  clear(prepared);
  const size_t count = smelt_package_library_count(package);
  for (size_t i = 0; libraries != nullptr && i < count; ++i) libraries[i] = nullptr;
  return guard([&]() -> Result<void> {
    constexpr const char* kFunction = "smelt_package_prepare";
    if (package == nullptr || device == nullptr || libraries == nullptr)
      return null_argument(kFunction, "package, device or libraries");
    SMELT_TRY(LoadOptions options, to_options(given, kFunction));
    if (!options.library.empty())
      return fail(Errc::invalid_argument, "{}: it loads every library; options name '{}'", kFunction, options.library);
    std::vector<LibraryRef> loaded;
    for (const std::string_view name : package->ref->names()) {
      options.library = name;
      SMELT_TRY(loaded.emplace_back(), Library::load(device->ref, package->ref, options));
    }
    std::function<bool(size_t, size_t)> report;
    if (progress != nullptr) report = [&](size_t done, size_t total) { return progress(context, done, total) != 0; };
    SMELT_TRY(const size_t made, prepare(loaded, report));
    std::vector<std::unique_ptr<smelt_library>> handles;  // all or none
    for (LibraryRef& library : loaded) handles.push_back(std::make_unique<smelt_library>(std::move(library)));
    for (size_t i = 0; i < count; ++i) libraries[i] = handles[i].release();
    if (prepared != nullptr) *prepared = made;
    return {};
  });
}
