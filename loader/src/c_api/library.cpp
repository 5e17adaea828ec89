// Devices, packages, libraries, functions and pipelines in C.
#include "handles.hpp"

using namespace smelt;
using namespace smelt::loader;
using namespace smelt::loader::c_api;

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
  options.checked = from.checked != 0;
  return options;
}

void set_text(std::string_view text, const char*& to, size_t& length) {
  to = text.data() != nullptr ? text.data() : "";
  length = text.size();
}

Result<void> name_at(std::span<const std::string_view> names, size_t index, const char** name, size_t* length,
                     const char* function) {
  if (name == nullptr || length == nullptr) return null_argument(function, "an out-parameter");
  if (index >= names.size()) return fail(Errc::invalid_argument, "{}: index {} of {}", function, index, names.size());
  set_text(names[index], *name, *length);
  return {};
}

template <class Component>
void append(ConstantValue& value, const smelt_constant& from) {
  const auto* components = static_cast<const Component*>(from.components);
  for (size_t i = 0; i < from.count; ++i) {
    if constexpr (std::is_same_v<Component, uint8_t>)
      value.components.emplace_back(components[i] != 0);
    else
      value.components.emplace_back(components[i]);
  }
}

Result<ConstantValues> to_values(const smelt_constant* constants, size_t count) {
  constexpr const char* kFunction = "smelt_function_get_pipeline";
  ConstantValues values;
  if (count != 0 && constants == nullptr) return null_argument(kFunction, "constants");
  for (size_t i = 0; i < count; ++i) {
    const smelt_constant& from = constants[i];
    ConstantValue value;
    if (from.name != nullptr)
      value.key = std::string(from.name, from.name_length);
    else
      value.key = from.index;
    if (from.components == nullptr || from.count == 0 || from.count > 16)
      return fail(Errc::invalid_argument, "{}: constant {} has {} components{}", kFunction, i, from.count,
                  from.components == nullptr ? " at null" : "");
    switch (from.kind) {
      case SMELT_CONSTANT_BOOL:
        append<uint8_t>(value, from);
        break;
      case SMELT_CONSTANT_INT:
        append<int64_t>(value, from);
        break;
      case SMELT_CONSTANT_UINT:
        append<uint64_t>(value, from);
        break;
      case SMELT_CONSTANT_FLOAT:
        append<double>(value, from);
        break;
      default:
        return fail(Errc::invalid_argument, "{}: constant {} has kind {}; want a SMELT_CONSTANT_ value", kFunction, i,
                    from.kind);
    }
    values.add(std::move(value));
  }
  return values;
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

// ---- functions ----

smelt_status smelt_function_get_info(const smelt_function* function, smelt_function_info* info) {
  return guard([&]() -> Result<void> {
    if (function == nullptr) return null_argument("smelt_function_get_info", "function");
    smelt_function_info filled{};
    set_text(function->ref->name(), filled.name, filled.name_length);
    filled.kind = static_cast<int32_t>(function->ref->kind());
    filled.metal_version[0] = function->ref->metal_version().major;
    filled.metal_version[1] = function->ref->metal_version().minor;
    filled.arg_count = function->ref->args().size();
    filled.constant_count = function->ref->constants().size();
    return write_info(info, filled, "smelt_function_get_info");
  });
}

smelt_status smelt_function_arg(const smelt_function* function, size_t index, smelt_arg_info* info) {
  return guard([&]() -> Result<void> {
    if (function == nullptr) return null_argument("smelt_function_arg", "function");
    if (index >= function->ref->args().size())
      return fail(Errc::invalid_argument, "smelt_function_arg: index {} of {}", index, function->ref->args().size());
    const ArgInfo& argument = function->ref->args()[index];
    smelt_arg_info filled{};
    set_text(argument.name, filled.name, filled.name_length);
    set_text(argument.type_name, filled.type_name, filled.type_name_length);
    filled.index = argument.index;
    filled.kind = static_cast<int32_t>(argument.kind);
    filled.access = static_cast<int32_t>(argument.access);
    filled.address_space = argument.address_space;
    filled.size = argument.size;
    filled.align = argument.align;
    filled.unused = argument.unused ? 1 : 0;
    filled.conditional = argument.conditional ? 1 : 0;
    return write_info(info, filled, "smelt_function_arg");
  });
}

smelt_status smelt_function_constant(const smelt_function* function, size_t index, smelt_constant_info* info) {
  return guard([&]() -> Result<void> {
    if (function == nullptr) return null_argument("smelt_function_constant", "function");
    if (index >= function->ref->constants().size())
      return fail(Errc::invalid_argument, "smelt_function_constant: index {} of {}", index,
                  function->ref->constants().size());
    const ConstantInfo& constant = function->ref->constants()[index];
    smelt_constant_info filled{};
    set_text(constant.name, filled.name, filled.name_length);
    set_text(constant.type_name, filled.type_name, filled.type_name_length);
    filled.index = constant.index;
    filled.required = constant.required ? 1 : 0;
    return write_info(info, filled, "smelt_function_constant");
  });
}

smelt_status smelt_function_usable(const smelt_function* function) {
  return guard([&]() -> Result<void> {
    if (function == nullptr) return null_argument("smelt_function_usable", "function");
    return function->ref->usable();
  });
}

smelt_status smelt_function_get_pipeline(smelt_function* function, const smelt_constant* constants, size_t count,
                                         smelt_pipeline** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    if (function == nullptr || out == nullptr) return null_argument("smelt_function_get_pipeline", "function or out");
    SMELT_TRY(const ConstantValues values, to_values(constants, count));
    return give(out, function->ref->pipeline(values));
  });
}

smelt_status smelt_pipeline_info(const smelt_pipeline* pipeline, smelt_pipeline_limits* limits) {
  return guard([&]() -> Result<void> {
    if (pipeline == nullptr) return null_argument("smelt_pipeline_info", "pipeline");
    smelt_pipeline_limits filled{};
    filled.max_threads_per_threadgroup = pipeline->ref->max_threads_per_threadgroup();
    filled.thread_execution_width = pipeline->ref->thread_execution_width();
    filled.static_threadgroup_memory_length = pipeline->ref->static_threadgroup_memory_length();
    if (const auto& group = pipeline->ref->required_group()) {
      filled.required_group[0] = group->x;
      filled.required_group[1] = group->y;
      filled.required_group[2] = group->z;
    }
    filled.limits_estimated = pipeline->ref->limits_estimated() ? 1 : 0;
    return write_info(limits, filled, "smelt_pipeline_info");
  });
}
