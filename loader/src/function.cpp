// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a name to a pipeline.
#include "smelt/base/near_names.hpp"

#include "library_data.hpp"
#include "pipeline_cache.hpp"

#include <algorithm>
#include <atomic>

namespace smelt::loader {
namespace {

ArgInfo to_info(const schema::ArgumentView& argument) {
  return {argument.name,   argument.type_name,     argument.location, argument.index,       argument.kind,
          argument.access, argument.address_space, argument.unused,   argument.conditional, argument.array_size,
          argument.size,   argument.align,         argument.members};
}

constexpr uint8_t kConstantSpace = 2;

void read_rows(const Library::Data& library, FunctionRows& function) {
  const schema::Package& package = library.package->data().package;
  function.package = &package;
  function.library = library.name;
  const schema::FunctionView row = package.function(library.rows.functions.first + function.index);
  function.name = row.name;
  function.kind = row.kind;
  function.max_threads = row.max_threads;
  function.grid_rank = row.grid_rank;
  function.threadgroup_bytes = row.threadgroup_bytes;
  if (row.required_group[0] != 0)
    function.required_group = Size3{row.required_group[0], row.required_group[1], row.required_group[2]};
  function.arguments = row.arguments;
  for (uint32_t i = 0; i < row.arguments.count; ++i) {
    const schema::ArgumentView argument = package.argument(row.arguments.first + i, false);
    const std::optional<BindingClass> kind = class_of(argument.kind);
    if (argument.unused || !kind || !is_run(*kind) || argument.array_size == 0) continue;
    // Which threadgroup memory a kernel uses may hang on its function constants; a host gives the rest no length.
    const bool may_lack_length = *kind == BindingClass::threadgroup && row.constants.count != 0;
    SlotMask& slots = may_lack_length ? function.may_lack_length : function.needed[*kind];
    if (may_lack_length || !argument.conditional) slots |= slot_mask(argument.location, argument.array_size);
    const bool has_length = argument.kind == ArgumentKind::buffer || argument.kind == ArgumentKind::indirect_buffer;
    if (!has_length || argument.size == 0 || argument.conditional || row.constants.count != 0) continue;
    for (uint32_t slot = argument.location; slot < argument.location + argument.array_size; ++slot)
      if (slot < row_of(BindingClass::buffer).slots)
        function.least.push_back({slot, argument.size, argument.address_space != kConstantSpace});
  }
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

void read_container_row(const Library::Data& library, FunctionRows& function) {
  const ContainerFunction& row = library.container.functions[function.index];
  function.name = library.names[function.index];
  function.kind = row.kind;
  function.metal = row.metal;
  // The container does not say which constants may be left out, so none is required here: the driver decides.
  for (const ContainerFunction::Constant& constant : row.constants)
    function.constants.push_back({constant.name, constant.type_name, constant.index, false});
  if (!library.slices.empty())
    function.slice = library.slices.front().get();
  else if (!library.on_demand)
    function.missing =
        "a metallib holds no CPU code; make a package of it: smelt compile X.metallib -o X.smelt, or on a Mac use the "
        "metal device";
}

}  // namespace

TraceFacts trace_facts(const FunctionRows& function) {
  TraceFacts facts;
  if (function.package == nullptr) return facts;
  facts.emplace_back("library", function.library);
  facts.emplace_back("package", to_hex(function.package->digest()));
  return facts;
}

std::span<const ArgInfo> FunctionRows::args() const {
  std::call_once(args_once_, [this] {
    args_.reserve(arguments.count);
    for (uint32_t i = 0; i < arguments.count; ++i) args_.push_back(to_info(package->argument(arguments.first + i)));
  });
  return args_;
}

Result<FunctionRef> Library::function(std::string_view name) const {
  const auto index = data_->find(name);
  if (!index) return no_function(name, data_->names);
  return FunctionRef(new Function(
      std::make_unique<Function::Data>(Function::Data{shared_from_this(), read_function(*data_, *index)})));
}

FunctionRowsRef read_function(const Library::Data& library, uint32_t index) {
  auto rows = std::make_shared<FunctionRows>();
  rows->owner = library.owner;
  rows->index = index;
  if (library.package)
    read_rows(library, *rows);
  else
    read_container_row(library, *rows);
  return rows;
}

Function::Function(std::unique_ptr<Data> data) : data_(std::move(data)) {}
Function::~Function() = default;
PipelineState::~PipelineState() = default;

std::span<const ArgInfo> PipelineState::args() const {
  return facts_.function->args();
}

std::span<const LeastBytes> PipelineState::least_bytes() const {
  return facts_.function->least;
}

uint32_t PipelineState::grid_rank() const {
  return facts_.function->grid_rank;
}

std::string_view Function::name() const {
  return data_->rows->name;
}
FunctionKind Function::kind() const {
  return data_->rows->kind;
}
Version Function::metal_version() const {
  return data_->rows->metal;
}
std::span<const ArgInfo> Function::args() const {
  return data_->rows->args();
}
std::span<const ConstantInfo> Function::constants() const {
  return data_->rows->constants;
}
const LibraryRef& Function::library() const {
  return data_->library;
}
Result<void> Function::usable() const {
  return check_usable(data_->library->data(), *data_->rows);
}

Result<void> check_usable(const Library::Data& library, const FunctionRows& function) {
  const Device& device = *library.device;
  // On the CPU a stage's function is one on arrays.
  const bool is_stage = function.kind == FunctionKind::vertex || function.kind == FunctionKind::fragment;
  if (function.kind != FunctionKind::kernel && !(is_stage && device.kind() == DeviceKind::cpu))
    return fail(Errc::function_kind, "function '{}' is a {} function; only kernels{} can be dispatched", function.name,
                to_string(function.kind), device.kind() == DeviceKind::cpu ? ", vertex and fragment functions" : "");
  if (library.on_demand) return {};
  if (const uint64_t most = device.limits().max_threadgroup_memory;
      function.slice == nullptr && function.threadgroup_bytes > most)
    return fail(Errc::threadgroup_memory_too_large,
                "kernel '{}' needs {} bytes of threadgroup memory; Apple GPUs have {} per threadgroup", function.name,
                function.threadgroup_bytes, most);
  if (function.slice == nullptr)
    return fail(Errc::unsupported, "{} '{}' has no code for device {}: {}",
                is_stage ? fmt::format("{} function", to_string(function.kind)) : "kernel", function.name,
                device.name(), function.missing);
  if (device.kind() != DeviceKind::cpu && function.metal > device.target().metal)
    return fail(Errc::unsupported_language, "kernel '{}' needs Metal {}, device {} has {}", function.name,
                to_string(function.metal), device.name(), to_string(device.target().metal));
  return {};
}

Result<PipelineOrder> order_pipeline(const Library::Data& library, const FunctionRowsRef& rows,
                                     const ConstantValues& constants) {
  const FunctionRows& function = *rows;
  PipelineOrder order;
  order.index = function.index;
  order.slice = function.slice;
  SMELT_TRY(order.request.constants, bind_constants(function.name, function.constants, constants));
  order.request.has_constants = !function.constants.empty();
  append_key(order.constants_key, order.request.constants);

  PipelineState::Facts& facts = order.request.facts;
  facts.name = function.name;
  facts.device = library.device;
  facts.function = rows;
  const Limits& limits = library.device->limits();
  facts.max_threads = limits.max_threads_per_threadgroup;
  if (function.max_threads != 0) facts.max_threads = std::min<uint64_t>(facts.max_threads, function.max_threads);
  facts.execution_width = limits.thread_execution_width;
  facts.threadgroup_bytes = function.threadgroup_bytes;
  facts.required_group = function.required_group;
  facts.limits_estimated = library.device->limits_estimated();
  facts.needed = function.needed;
  facts.may_lack_length = function.may_lack_length;
  facts.tier = library.options.tier;
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

Result<FunctionRef> Function::with_code() const {
  const Library::Data& library = data_->library->data();
  if (!library.on_demand) return shared_from_this();
  SMELT_TRY_VOID(usable());
  SMELT_TRY(const LibraryRef made, library.on_demand->library_of(data_->rows->index));
  return made->function(name());
}

Result<PipelineRef> Function::pipeline(const ConstantValues& constants) const {
  SMELT_TRY_VOID(usable());
  const Library::Data& library = data_->library->data();
  if (library.on_demand) {
    SMELT_TRY(const FunctionRef function, with_code());
    return function->pipeline(constants);
  }
  // The common case costs no more than a look.
  if (data_->rows->constants.empty() && constants.empty())
    if (PipelineRef found = library.pipelines().find(data_->rows->index, {})) return found;
  SMELT_TRY(PipelineOrder order, order_pipeline(library, data_->rows, constants));
  if (PipelineRef found = library.pipelines().find(order.index, order.constants_key)) return found;
  SMELT_TRY(const std::shared_ptr<OpenSlice> slice, open_slice(library, *order.slice));
  const auto start = TraceClock::now();
  std::vector<PipelineRequest> requests;
  requests.push_back(std::move(order.request));
  auto pipelines = slice->make_pipelines(std::move(requests));
  if (tracing()) trace_event(name(), "pipeline", start, TraceClock::now(), trace_facts(*data_->rows));
  if (!pipelines.front()) return tl::unexpected(std::move(pipelines.front()).error());
  return library.pipelines().add(order.index, order.constants_key, std::move(*pipelines.front()));
}

}  // namespace smelt::loader
