// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/loader/encoder.hpp"

#include "library_data.hpp"

#include <algorithm>

namespace smelt::loader {

Result<std::unique_ptr<Encoder>> Encoder::create(const DeviceRef& device) {
  if (!device) return fail(Errc::invalid_argument, "an encoder needs a device; none was given");
  return static_cast<DeviceImpl&>(*device).make_encoder();
}

Encoder::~Encoder() = default;

Result<void> Encoder::check_slot(uint32_t index) const {
  if (index >= kSlots)
    return fail(Errc::buffer_index,
                "buffer index {} is above {}. Pack small arguments into one buffer, or pass addresses of several "
                "buffers as a list",
                index, kSlots - 1);
  return {};
}

/// What was there before is no longer.
void Encoder::bind_slot(uint32_t index) {
  tensors_ &= ~slot_mask(index);
  for (size_t i = 0; i < kBindingClasses; ++i)
    if (const auto kind = static_cast<BindingClass>(i); form_of(kind) == BindingForm::record)
      bound_[kind] &= ~slot_mask(index);
  bound_[BindingClass::buffer] |= slot_mask(index);
}

Result<void> Encoder::set_pipeline(PipelineRef pipeline) {
  if (!pipeline) return fail(Errc::invalid_argument, "set_pipeline: no pipeline was given");
  if (pipeline->device() != device_)
    return fail(Errc::invalid_argument, "pipeline '{}' was built for device {}, this encoder is for {}",
                pipeline->name(), pipeline->device()->name(), device_->name());
  pipeline_ = std::move(pipeline);
  return {};
}

Result<void> Encoder::set_buffer(uint32_t index, BufferRef buffer, uint64_t offset) {
  SMELT_TRY_VOID(check_slot(index));
  const uint64_t size = buffer ? buffer->size() : 0;
  if (offset > size)
    return fail(Errc::invalid_argument, "set_buffer({}): offset {} is past the end of a buffer of {} bytes", index,
                offset, size);
  addresses_[index] = buffer ? buffer->contents().data() + offset : nullptr;
  lengths_[index] = size - offset;
  bind_slot(index);
  Slot& slot = slots_[index];
  slot.is_inline = false;
  slot.is_null = buffer == nullptr;
  slot.buffer = std::move(buffer);
  slot.offset = offset;
  return {};
}

Result<void> Encoder::set_bytes(uint32_t index, ByteView bytes) {
  SMELT_TRY_VOID(check_slot(index));
  slots_[index].inlined.assign(bytes.begin(), bytes.end());
  bind_inlined(index);
  return {};
}

void Encoder::bind_inlined(uint32_t index) {
  Slot& slot = slots_[index];
  if (slot.inlined.capacity() == 0) slot.inlined.reserve(16);  // zero bytes still have an address
  slot.buffer.reset();
  slot.is_inline = true;
  slot.is_null = false;
  addresses_[index] = slot.inlined.data();
  lengths_[index] = slot.inlined.size();
  bind_slot(index);
}

Result<std::span<std::byte>> Encoder::make_record(BindingClass kind, uint32_t index, size_t bytes) {
  SMELT_TRY_VOID(check_slot(index));
  if (!takes_memory())
    return fail(Errc::unsupported, "{} {}: device {} cannot take one from this interface", to_string(kind), index,
                device_->name());
  std::vector<std::byte>& record = slots_[index].inlined;
  record.resize(bytes);
  bind_inlined(index);
  bound_[kind] |= slot_mask(index);
  return std::span(record);
}

Result<void> Encoder::set_memory(uint32_t index, std::span<std::byte> memory) {
  SMELT_TRY_VOID(check_slot(index));
  if (!takes_memory())
    return fail(Errc::unsupported, "set_memory({}): device {} does not share the caller's memory; use a buffer", index,
                device_->name());
  slots_[index].buffer.reset();
  slots_[index].is_inline = false;
  slots_[index].is_null = false;
  addresses_[index] = memory.data();
  lengths_[index] = memory.size();
  bind_slot(index);
  return {};
}

Result<void> Encoder::set_threadgroup_memory(uint32_t index, uint64_t bytes) {
  SMELT_TRY_VOID(check_slot(index));
  const uint64_t limit = device_->limits().max_threadgroup_memory;
  if (bytes > limit)
    return fail(Errc::threadgroup_memory_too_large,
                "Threadgroup memory size ({}) exceeds the maximum threadgroup memory allowed ({}): argument {}", bytes,
                limit, index);
  threadgroup_lengths_[index] = static_cast<uint32_t>(bytes);
  if (bytes != 0)
    bound_[BindingClass::threadgroup] |= slot_mask(index);
  else
    bound_[BindingClass::threadgroup] &= ~slot_mask(index);
  return {};
}

Result<void> Encoder::set_texture(uint32_t index, TextureRef texture) {
  if (index >= textures_.size() || !texture)
    return fail(Errc::invalid_argument, "set_texture({}): want a texture, and an index from 0 to {}", index,
                textures_.size() - 1);
  if (!takes_memory())
    return fail(Errc::unsupported, "set_texture({}): device {} cannot take textures from this interface", index,
                device_->name());
  textures_[index] = &texture->cpu();
  texture_refs_[index] = std::move(texture);
  bound_[BindingClass::texture] |= slot_mask(index);
  return {};
}

Result<void> Encoder::set_sampler(uint32_t index, SamplerRef sampler) {
  if (index >= samplers_.size() || !sampler)
    return fail(Errc::invalid_argument, "set_sampler({}): want a sampler, and an index from 0 to {}", index,
                samplers_.size() - 1);
  if (!takes_memory())
    return fail(Errc::unsupported, "set_sampler({}): device {} cannot take samplers from this interface", index,
                device_->name());
  samplers_[index] = &sampler->cpu();
  sampler_refs_[index] = std::move(sampler);
  bound_[BindingClass::sampler] |= slot_mask(index);
  return {};
}

/// Metal's validation says the same of textures of another type. Blocks are decoded here, the last place in front of
/// the launch.
Result<void> Encoder::check_textures(const PipelineState& pipeline) const {
  if (bound_[BindingClass::texture] == 0) return {};
  for (const ArgInfo& argument : pipeline.args()) {
    if (argument.kind != ArgumentKind::texture || argument.unused || argument.conditional) continue;
    for (size_t i = argument.index; i < texture_refs_.size() && i - argument.index < argument.array_size; ++i)
      if (const auto reason = texture_refs_[i] ? misfit(*texture_refs_[i], argument.type_name) : std::nullopt)
        return fail(Errc::argument_mismatch, "kernel '{}': texture {} '{}' is a {}, and the one that is bound {}",
                    pipeline.name(), i, argument.name, argument.type_name, *reason);
  }
  for (SlotMask mask = bound_[BindingClass::texture]; mask != 0; mask &= mask - 1)
    SMELT_TRY_VOID(texture_refs_[lowest_slot(mask)]->decode());
  return {};
}

/// Code for stages counts on all of it: it is not checked code.
Result<void> Encoder::check_stage(const PipelineState& pipeline, const Size3& threads, const Size3& group) const {
  const FunctionKind stage = pipeline.facts().function->kind;
  if (stage == FunctionKind::kernel) return {};
  const std::string_view what = to_string(stage);
  if (threads.y != 1 || threads.z != 1)
    return fail(Errc::invalid_argument,
                "{} function '{}': a grid of ({}, {}, {}); want one dimension, a thread for each {}", what,
                pipeline.name(), threads.x, threads.y, threads.z, what);
  if (stage == FunctionKind::fragment && (threads.x % 4 != 0 || group.x % 4 != 0))
    return fail(Errc::invalid_argument,
                "fragment function '{}': {} threads in groups of {}; want multiples of 4, since 4 threads are a quad",
                pipeline.name(), threads.x, group.x);
  for (const ArgInfo& argument : pipeline.args()) {
    const bool is_array = argument.kind == ArgumentKind::stage_input || argument.kind == ArgumentKind::stage_output;
    if (!is_array || argument.index >= kSlots || addresses_[argument.index] == nullptr) continue;
    if (argument.size != 0 && lengths_[argument.index] / argument.size < threads.x)
      return fail(
          Errc::argument_mismatch, "{} function '{}': array '{}' has {} bytes; {} threads want {} of {} bytes each",
          what, pipeline.name(), argument.name, lengths_[argument.index], threads.x, argument.type_name, argument.size);
  }
  return {};
}

void Encoder::forget_used() {
  used_textures_.clear();
  used_samplers_.clear();
}

void Encoder::clear_bindings() {
  forget_used();
  for (SlotMask mask = bound_[BindingClass::texture]; mask != 0; mask &= mask - 1) {
    textures_[lowest_slot(mask)] = nullptr;
    texture_refs_[lowest_slot(mask)].reset();
  }
  for (SlotMask mask = bound_[BindingClass::sampler]; mask != 0; mask &= mask - 1) {
    samplers_[lowest_slot(mask)] = nullptr;
    sampler_refs_[lowest_slot(mask)].reset();
  }
  for (size_t i = 0; i < kSlots; ++i) {
    slots_[i].buffer.reset();
    slots_[i].is_inline = false;
    slots_[i].is_null = false;
    addresses_[i] = nullptr;
    lengths_[i] = 0;
    threadgroup_lengths_[i] = 0;
  }
  bound_ = {};
  tensors_ = 0;
}

void Encoder::reset() {
  clear_bindings();
  pipeline_.reset();
  if (concurrent_) set_pass(nullptr, 0);
  concurrent_ = false;
}

tl::unexpected<Error> Encoder::not_bound(const PipelineState& pipeline, const BindingSlot& slot) {
  std::string_view name;
  for (const ArgInfo& argument : pipeline.args())
    if (class_of(argument.kind) == slot.kind && argument.index <= slot.index &&
        slot.index < argument.index + argument.array_size)
      name = argument.name;
  return fail(Errc::argument_mismatch, "kernel '{}' uses {} {} '{}', which {}", pipeline.name(), to_string(slot.kind),
              slot.index, name,
              slot.kind == BindingClass::threadgroup
                  ? "has no length: say how many bytes it has (threadgroup_memory= in Python, --threadgroup-memory, "
                    "set_threadgroup_memory)"
              : slot.kind == BindingClass::table
                  ? "is not bound: name its functions (a list of names in Python, functions:NAME,NAME in `smelt run`, "
                    "set_function_table)"
                  : "is not bound");
}

Result<void> Encoder::dispatch_threads(Size3 threads) {
  return dispatch_threads(threads, std::nullopt, 3);
}

Result<void> Encoder::dispatch_threads(Size3 threads, Size3 group_size) {
  return dispatch_threads(threads, std::optional(group_size), 3);
}

Result<void> Encoder::dispatch_threads(Size3 threads, std::optional<Size3> group_size, int rank) {
  if (!pipeline_) return fail(Errc::invalid_argument, "dispatch: no pipeline was set");
  if (rank < 1 || rank > 3) return fail(Errc::invalid_argument, "dispatch: rank {}; want 1, 2 or 3", rank);
  const PipelineState& pipeline = *pipeline_;
  if (rank < 3) threads.z = 1;
  if (rank < 2) threads.y = 1;
  const uint64_t limit = pipeline.max_threads_per_threadgroup();
  const std::optional<Size3>& required = pipeline.required_group();

  Size3 group;
  if (group_size) {
    group = *group_size;
    if (group.x == 0 || group.y == 0 || group.z == 0)
      return fail(Errc::group_zero, "kernel '{}': group size ({}, {}, {}) has a 0; each component must be at least 1",
                  pipeline.name(), group.x, group.y, group.z);
    // Each component first: the product of three large ones could wrap.
    const bool fits = group.x <= limit && group.y <= limit && group.z <= limit && group.x * group.y * group.z <= limit;
    if (!fits)
      return fail(Errc::group_too_large,
                  "kernel '{}': group size ({}, {}, {}) exceeds max_threads_per_threadgroup of {}", pipeline.name(),
                  group.x, group.y, group.z, limit);
    if (required && group != *required)
      return fail(Errc::group_too_large, "kernel '{}': group size ({}, {}, {}); it runs only with ({}, {}, {})",
                  pipeline.name(), group.x, group.y, group.z, required->x, required->y, required->z);
  } else {
    group = required ? *required : Size3{std::max<uint64_t>(1, std::min(limit, threads.x)), 1, 1};
  }

  // Of a kernel for the CPU alone its own memory may be more than the device lets be bound.
  const uint64_t most =
      std::max<uint64_t>(device_->limits().max_threadgroup_memory, pipeline.static_threadgroup_memory_length());
  uint64_t threadgroup_bytes = pipeline.static_threadgroup_memory_length();
  for (SlotMask mask = bound_[BindingClass::threadgroup]; mask != 0; mask &= mask - 1)
    threadgroup_bytes += threadgroup_lengths_[lowest_slot(mask)];
  if (threadgroup_bytes > most)
    return fail(Errc::threadgroup_memory_too_large,
                "Threadgroup memory size ({}) exceeds the maximum threadgroup memory allowed ({}): kernel '{}', of "
                "which {} static",
                threadgroup_bytes, most, pipeline.name(), pipeline.static_threadgroup_memory_length());

  if (const auto missing = first_missing(pipeline.facts().needed, bound_)) return not_bound(pipeline, *missing);
  SMELT_TRY_VOID(check_textures(pipeline));
  SMELT_TRY_VOID(check_tensors(pipeline));
  SMELT_TRY_VOID(check_tables(pipeline));
  SMELT_TRY_VOID(check_stage(pipeline, threads, group));
  if (threads.x == 0 || threads.y == 0 || threads.z == 0) {
    ++empty_dispatches_;
    return {};
  }
  for (const LeastBytes& least : pipeline.facts().function->least)
    if (lengths_[least.slot] < least.bytes) SMELT_TRY_VOID(check_length(pipeline, least));
  return tracing() ? run_traced(pipeline, threads, group) : run(pipeline, threads, group);
}

/// A null buffer is the caller's way to pass nothing; checked code reports an access through it.
Result<void> Encoder::check_length(const PipelineState& pipeline, const LeastBytes& least) const {
  const uint64_t given = lengths_[least.slot];
  if (slots_[least.slot].is_null || least.holds(given)) return {};
  return fail(Errc::argument_mismatch, "kernel '{}': {}", pipeline.name(), too_short(least, given, pipeline.args()));
}

Result<void> Encoder::run_traced(const PipelineState& pipeline, const Size3& threads, const Size3& group) {
  const auto start = TraceClock::now();
  auto done = run(pipeline, threads, group);
  const auto text = [](const Size3& size) { return fmt::format("{} x {} x {}", size.x, size.y, size.z); };
  TraceFacts facts = trace_facts(*pipeline.facts().function);
  facts.emplace_back("threads", text(threads));
  facts.emplace_back("threads per threadgroup", text(group));
  if (!trace_label_.empty()) facts.emplace_back("pass", trace_label_);
  if (!done) facts.emplace_back("error", done.error().message);
  trace_event(pipeline.name(), "dispatch", start, TraceClock::now(), facts);
  return done;
}

Result<void> Encoder::dispatch_threadgroups(Size3 groups, Size3 group_size) {
  const auto threads = [](uint64_t count, uint64_t size) -> std::optional<uint64_t> {
    if (size != 0 && count > UINT64_MAX / size) return std::nullopt;
    return count * size;
  };
  const auto x = threads(groups.x, group_size.x), y = threads(groups.y, group_size.y),
             z = threads(groups.z, group_size.z);
  if (!x || !y || !z)
    return fail(Errc::invalid_argument, "dispatch: ({}, {}, {}) groups of ({}, {}, {}) threads cannot be counted",
                groups.x, groups.y, groups.z, group_size.x, group_size.y, group_size.z);
  return dispatch_threads({*x, *y, *z}, group_size);
}

void Encoder::begin_concurrent() {
  concurrent_ = true;
  set_pass(nullptr, 0);
}

ConcurrentPass* Encoder::pass() {
  if (concurrent_ && !pass_) pass_ = make_concurrent_pass();
  return pass_.get();
}

Result<void> Encoder::barrier() {
  ++barriers_;
  return run_kept();
}

Result<void> Encoder::run_kept() {
  return {};
}

Result<void> Encoder::end_concurrent() {
  concurrent_ = false;
  set_pass(nullptr, 0);
  return run_kept();
}

void Encoder::set_pass(ConcurrentPassRef pass, uint32_t barriers) {
  pass_ = std::move(pass);
  barriers_ = barriers;
}

Result<void> Encoder::wait() {
  return barrier();
}

}  // namespace smelt::loader
