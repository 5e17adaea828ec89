// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch_parts.hpp"

#include "library_data.hpp"
#include "log_format.hpp"

#include <algorithm>
#include <optional>

namespace smelt::loader {
namespace {

/// Memory that has no index and no length in the launch. Nothing for an argument.
std::optional<std::string> place_of(const smelt_cpu_fault& fault) {
  const auto offset = static_cast<int64_t>(fault.offset);
  switch (fault.buffer) {
    case SMELT_CPU_FAULT_CONSTANT_TABLE:
      return fmt::format("at offset {} of a constant table", offset);
    case SMELT_CPU_FAULT_PRIVATE:
      return fmt::format("at offset {} of an array of its own, outside of it", offset);
    case SMELT_CPU_FAULT_NULL:
      return fmt::format("through a null pointer, at address {:#x}", fault.offset);
    case SMELT_CPU_FAULT_STRAY:
      return fmt::format(
          "at address {:#x}, through a pointer that was read from memory or made from a number: it lies in no buffer "
          "that is bound",
          fault.offset);
    default:
      return std::nullopt;
  }
}

/// The texture is known by its address.
tl::unexpected<Error> left_texture(const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch,
                                   const smelt_cpu_fault& fault) {
  std::string what = "a texture";
  for (uint32_t i = 0; i < SMELT_CPU_MAX_TEXTURES; ++i) {
    const smelt_cpu_texture* const texture = dispatch.textures != nullptr ? dispatch.textures[i] : nullptr;
    if (texture == nullptr || reinterpret_cast<uintptr_t>(texture) != fault.offset) continue;
    what = fmt::format("texture {}", i);
    for (const ArgInfo& argument : pipeline.args())
      if (argument.kind == ArgumentKind::texture && argument.index <= i && i < argument.index + argument.array_size)
        what += fmt::format(" '{}'", argument.name);
    what += fmt::format(" of {} x {} x {}", texture->width, texture->height, std::max(texture->depth, texture->layers));
    if (texture->levels > 1) what += fmt::format(" with {} levels", texture->levels);
    break;
  }
  auto error = fail(Errc::buffer_bounds, "kernel '{}': thread ({}, {}, {}) {} a texel at x {}, y {} outside of {}",
                    pipeline.name(), fault.position[0], fault.position[1], fault.position[2],
                    fault.is_write != 0 ? "writes" : "reads", static_cast<int32_t>(fault.bytes),
                    static_cast<int32_t>(fault.bytes >> 32), what);
  error.value().subject = pipeline.name();
  return error;
}

tl::unexpected<Error> faulted(const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch,
                              const smelt_cpu_fault& fault) {
  if (fault.buffer == SMELT_CPU_FAULT_TEXTURE) return left_texture(pipeline, dispatch, fault);
  if (fault.buffer == SMELT_CPU_FAULT_RECURSION)
    return fail(Errc::pipeline_failed,
                "kernel '{}' calls one of its functions from itself deeper than the CPU's stack is sure to hold; its "
                "results are not complete",
                pipeline.name());
  if (fault.buffer == SMELT_CPU_FAULT_TABLE)
    return fail(
        Errc::pipeline_failed,
        "kernel '{}' calls entry {} of a function table, which holds no visible function of its library with the "
        "type of the call and without function constants; its results are not complete",
        pipeline.name(), fault.offset);
  std::string what;
  uint64_t has = 0;
  uint64_t element = 1;
  BindingClass kind = BindingClass::buffer;
  uint32_t index = fault.buffer;
  if (fault.buffer == SMELT_CPU_FAULT_STATIC_THREADGROUP) {
    what = "static threadgroup memory";
    has = pipeline.static_threadgroup_memory_length();
  } else if (const auto place = place_of(fault)) {
    auto error =
        fail(Errc::buffer_bounds, "kernel '{}': thread ({}, {}, {}) {} {} bytes {}", pipeline.name(), fault.position[0],
             fault.position[1], fault.position[2], fault.is_write != 0 ? "writes" : "reads", fault.bytes, *place);
    error.value().subject = pipeline.name();
    return error;
  } else {
    if ((fault.buffer & SMELT_CPU_FAULT_THREADGROUP_ARGUMENT) != 0) {
      kind = BindingClass::threadgroup;
      index = fault.buffer & ~SMELT_CPU_FAULT_THREADGROUP_ARGUMENT;
    }
    what = fmt::format("{} {}", to_string(kind), index);
    if (index < SMELT_CPU_MAX_BUFFERS)
      has = kind == BindingClass::threadgroup ? dispatch.threadgroup_bytes[index] : dispatch.buffer_bytes[index];
    for (const ArgInfo& argument : pipeline.args()) {
      if (argument.index != index) continue;
      const auto tensor = kind == BindingClass::buffer ? tensor_memory(argument, dispatch) : std::nullopt;
      if (tensor) has = tensor->size();
      if (!tensor && class_of(argument.kind) != kind) continue;
      what += fmt::format(" '{}'", argument.name);
      if (argument.size > 1) element = argument.size;
    }
  }
  const auto offset = static_cast<int64_t>(fault.offset);
  std::string place = fmt::format("offset {}", offset);
  if (element > 1 && offset % static_cast<int64_t>(element) == 0)
    place += fmt::format(" (index {})", offset / static_cast<int64_t>(element));
  auto error = fail(Errc::buffer_bounds, "kernel '{}': thread ({}, {}, {}) {} {} bytes at {} of {}, which has {} bytes",
                    pipeline.name(), fault.position[0], fault.position[1], fault.position[2],
                    fault.is_write != 0 ? "writes" : "reads", fault.bytes, place, what, has);
  error.value().subject = pipeline.name();
  return error;
}

}  // namespace

void learn(const CpuPipeline& pipeline, float nanoseconds, double threads) {
  const float sample = nanoseconds / static_cast<float>(threads);
  const float before = pipeline.thread_cost.load(std::memory_order_relaxed);
  pipeline.thread_cost.store(before == 0 ? sample : before * 0.75f + sample * 0.25f, std::memory_order_relaxed);
}

tl::unexpected<Error> over_limit(const CpuDevice& device, const CpuPipeline& pipeline) {
  return fail(
      Errc::cancelled,
      "kernel '{}' was ended by the device's limit of {:.3g} s for a launch; some of its groups ran and some did "
      "not",
      pipeline.name(), std::chrono::duration<double>(device.launch_limit()).count());
}

tl::unexpected<Error> interrupted(const CpuPipeline& pipeline) {
  return fail(Errc::cancelled, "kernel '{}' was interrupted; some of its groups ran and some did not", pipeline.name());
}

tl::unexpected<Error> no_scratch(const CpuPipeline& pipeline, uint64_t bytes) {
  return fail(Errc::pipeline_failed, "kernel '{}': no memory for {} bytes of scratch on every thread", pipeline.name(),
              bytes);
}

void receive_log(void* context, const char*, const char*, uint32_t, const char* format, const void* arguments,
                 uint64_t bytes) {
  const auto& log = *static_cast<const LogContext*>(context);
  if (format == nullptr || (arguments == nullptr && bytes != 0)) return;
  log.device->log(log.pipeline->name(), format_log(format, {static_cast<const std::byte*>(arguments), bytes}));
}

Result<void> outcome(const CpuDevice& device, const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch,
                     const smelt_cpu_fault& fault) {
  if (fault.claimed == SMELT_CPU_LAUNCH_ENDS)
    return device.launch_limit().count() == 0 || device.interrupted() ? interrupted(pipeline)
                                                                      : over_limit(device, pipeline);
  if (fault.claimed != 0) return faulted(pipeline, dispatch, fault);
  return {};
}

}  // namespace smelt::loader
