// From a name to a pipeline.
#include "library_data.hpp"
#include "near_names.hpp"
#include "pipeline_cache.hpp"

#include <algorithm>
#include <atomic>

namespace smelt::loader {
namespace {

ArgInfo to_info(const schema::ArgumentView& argument) {
  ArgInfo info;
  info.name = argument.name;
  info.type_name = argument.type_name;
  info.index = argument.location;
  info.parameter = argument.index;
  info.kind = ArgumentKind(uint8_t(argument.kind));
  info.access = Access(uint8_t(argument.access));
  info.address_space = argument.address_space;
  info.unused = argument.unused;
  info.conditional = argument.conditional;
  info.array_size = argument.array_size;
  info.size = argument.size;
  info.align = argument.align;
  return info;
}

void read_rows(const Library::Data& library, Function::Data& function) {
  const schema::Package& package = library.package->data().package;
  const schema::FunctionView row = package.function(library.rows.functions.first + function.index);
  function.name = row.name;
  function.kind = FunctionKind(uint8_t(row.kind));
  function.max_threads = row.max_threads;
  function.threadgroup_bytes = row.threadgroup_bytes;
  if (row.required_group[0] != 0)
    function.required_group = Size3{row.required_group[0], row.required_group[1], row.required_group[2]};
  function.args.reserve(row.arguments.count);
  for (uint32_t i = 0; i < row.arguments.count; ++i)
    function.args.push_back(to_info(package.argument(row.arguments.first + i)));
  for (uint32_t i = 0; i < row.constants.count; ++i) {
    const schema::ConstantView constant = package.constant(row.constants.first + i);
    function.constants.push_back({constant.name, constant.type_name, constant.index, constant.required});
  }
  for (const auto& slice : library.slices) {
    const schema::PresenceView presence = package.presence(slice->first_presence + function.index);
    if (!presence.missing) {
      function.slice = slice.get();
      function.metal = {presence.metal.major, presence.metal.minor, presence.metal.patch};
      return;
    }
    if (function.missing.empty())
      function.missing = fmt::format("{}: {}", slice->facts.target.name,
                                     presence.reason.empty() ? "no reason was recorded" : presence.reason);
  }
}

void read_container_row(const Library::Data& library, Function::Data& function) {
  const ContainerFunction& row = library.container.functions[function.index];
  function.name = row.name;
  function.kind = row.kind;
  function.metal = row.metal;
  // The container does not say which constants may be left out, so none is required here: the driver decides.
  for (const ContainerFunction::Constant& constant : row.constants)
    function.constants.push_back({constant.name, constant.type_name, constant.index, false});
  if (!library.slices.empty())
    function.slice = library.slices.front().get();
  else
    function.missing =
        "a metallib holds no CPU code; make a package of it: smelt compile X.metallib -o X.smelt, or on a Mac use the "
        "metal device";
}

/// Slots 0..30 as bits; an argument that claims more is cut off, as nothing can be bound there.
uint32_t slot_mask(const ArgInfo& argument) {
  uint32_t mask = 0;
  for (uint32_t i = 0; i < argument.array_size && argument.index + uint64_t{i} < 31; ++i)
    mask |= 1u << (argument.index + i);
  return mask;
}

}  // namespace

Result<FunctionRef> Library::function(std::string_view name) const {
  const auto index = data_->find(name);
  if (!index) {
    std::string hint;
    const std::string_view other = other_spelling(name, data_->names);
    if (!other.empty()) hint = fmt::format(". It is here as '{}'", other);
    std::string near;
    for (const std::string_view candidate : near_names(name, data_->names))
      near += fmt::format("{}'{}'", near.empty() ? "" : ", ", candidate);
    if (!near.empty()) hint += fmt::format(". Near names: {}", near);
    auto error = fail(Errc::function_not_found, "the library has no function '{}'; it has {}{}", name,
                      data_->names.size(), hint);
    error.value().subject = name;
    return error;
  }
  auto data = std::make_unique<Function::Data>();
  data->library = shared_from_this();
  data->index = *index;
  if (data_->package)
    read_rows(*data_, *data);
  else
    read_container_row(*data_, *data);
  return FunctionRef(new Function(std::move(data)));
}

Function::Function(std::unique_ptr<Data> data) : data_(std::move(data)) {}
Function::~Function() = default;
PipelineState::~PipelineState() = default;

std::string_view Function::name() const {
  return data_->name;
}
FunctionKind Function::kind() const {
  return data_->kind;
}
Version Function::metal_version() const {
  return data_->metal;
}
std::span<const ArgInfo> Function::args() const {
  return data_->args;
}
std::span<const ConstantInfo> Function::constants() const {
  return data_->constants;
}
const LibraryRef& Function::library() const {
  return data_->library;
}

Result<void> Function::usable() const {
  const Device& device = *data_->library->device();
  if (data_->kind != FunctionKind::kernel)
    return fail(Errc::function_kind, "function '{}' is a {} function; only kernels can be dispatched", data_->name,
                to_string(data_->kind));
  if (data_->slice == nullptr)
    return fail(Errc::unsupported, "kernel '{}' has no code for device {}: {}", data_->name, device.name(),
                data_->missing);
  if (device.kind() != DeviceKind::cpu && data_->metal > device.target().metal)
    return fail(Errc::unsupported_language, "kernel '{}' needs Metal {}, device {} has {}", data_->name,
                to_string(data_->metal), device.name(), to_string(device.target().metal));
  return {};
}

Result<PipelineOrder> order_pipeline(const Function::Data& function, const ConstantValues& constants) {
  const Library::Data& library = function.library->data();
  PipelineOrder order;
  SMELT_TRY(order.request.constants, bind_constants(function.name, function.constants, constants));
  order.request.has_constants = !function.constants.empty();
  order.slice = function.slice;

  PipelineState::Facts& facts = order.request.facts;
  facts.name = function.name;
  facts.device = library.device;
  facts.owner = library.owner;
  facts.args = function.args;
  const Limits& limits = library.device->limits();
  facts.max_threads = limits.max_threads_per_threadgroup;
  if (function.max_threads != 0) facts.max_threads = std::min<uint64_t>(facts.max_threads, function.max_threads);
  facts.execution_width = limits.thread_execution_width;
  facts.threadgroup_bytes = function.threadgroup_bytes;
  facts.required_group = function.required_group;
  facts.limits_estimated = library.device->limits_estimated();
  for (const ArgInfo& argument : function.args) {
    if (argument.unused || argument.conditional) continue;
    if (argument.kind == ArgumentKind::buffer || argument.kind == ArgumentKind::indirect_buffer)
      facts.needed_buffers |= slot_mask(argument);
    if (argument.kind == ArgumentKind::threadgroup) facts.needed_threadgroups |= slot_mask(argument);
  }

  const auto device = reinterpret_cast<uintptr_t>(library.device.get());
  order.key.append(reinterpret_cast<const char*>(&device), sizeof(device));
  order.key += as_text(function.library->digest().bytes);
  order.key += as_text(function.slice->facts.hash.bytes);
  for (const std::string_view name : {library.name, function.name}) {
    const auto bytes = static_cast<uint32_t>(name.size());
    order.key.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
    order.key += name;
  }
  append_key(order.key, order.request.constants);
  return order;
}

Result<std::shared_ptr<OpenSlice>> open_slice(const Library::Data& library, UsableSlice& slice) {
  std::call_once(slice.once, [&] {
    auto open = library.impl().open_slice(slice.facts, library.owner);
    if (open)
      slice.open = std::move(*open);
    else
      slice.error = std::move(open).error();
  });
  if (slice.error) return tl::unexpected(*slice.error);
  return slice.open;
}

PipelineRef find_pipeline(const Library::Data& library, const std::string& key) {
  {
    const std::lock_guard lock(library.mutex);
    if (const auto at = library.pipelines.find(key); at != library.pipelines.end()) return at->second;
  }
  PipelineRef found = PipelineCache::of_process().find(key);
  if (found) {
    const std::lock_guard lock(library.mutex);
    library.pipelines.emplace(key, found);
  }
  return found;
}

PipelineRef keep_pipeline(const Library::Data& library, const std::string& key, PipelineRef pipeline) {
  PipelineRef kept = PipelineCache::of_process().add(key, std::move(pipeline));
  const std::lock_guard lock(library.mutex);
  library.pipelines.emplace(key, kept);
  return kept;
}

Result<PipelineRef> Function::pipeline(const ConstantValues& constants) const {
  SMELT_TRY_VOID(usable());
  const Library::Data& library = data_->library->data();
  SMELT_TRY(PipelineOrder order, order_pipeline(*data_, constants));
  if (PipelineRef found = find_pipeline(library, order.key)) return found;
  SMELT_TRY(const std::shared_ptr<OpenSlice> slice, open_slice(library, *order.slice));
  std::vector<PipelineRequest> requests;
  requests.push_back(std::move(order.request));
  auto pipelines = slice->make_pipelines(std::move(requests));
  if (!pipelines.front()) return tl::unexpected(std::move(pipelines.front()).error());
  return keep_pipeline(library, order.key, std::move(*pipelines.front()));
}

}  // namespace smelt::loader
