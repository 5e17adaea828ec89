// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fault_texts.hpp"

#include "library_data.hpp"

#include <algorithm>
#include <charconv>
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
          "at address {:#x}, through a pointer that was read from memory or made from a number: no bound buffer "
          "contains it",
          fault.offset);
    default:
      return std::nullopt;
  }
}

/// An access outside of memory: of which, and which element of it, where both are known, and what the thread did.
struct Stray {
  std::string memory;
  std::optional<uint64_t> element;
  std::string does;
};

const char* verb(const smelt_cpu_fault& fault) {
  return fault.is_write != 0 ? "writes" : "reads";
}

/// The texture is known by its address.
Stray left_texture(const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch, const smelt_cpu_fault& fault) {
  std::string memory, size;
  for (uint32_t i = 0; i < SMELT_CPU_MAX_TEXTURES; ++i) {
    const smelt_cpu_texture* const texture = dispatch.textures != nullptr ? dispatch.textures[i] : nullptr;
    if (texture == nullptr || reinterpret_cast<uintptr_t>(texture) != fault.offset) continue;
    memory = fmt::format("texture {}", i);
    for (const ArgInfo& argument : pipeline.args())
      if (argument.kind == ArgumentKind::texture && argument.index <= i && i < argument.index + argument.array_size)
        memory += fmt::format(" '{}'", argument.name);
    size = fmt::format(" of {} x {} x {}", texture->width, texture->height, std::max(texture->depth, texture->layers));
    if (texture->levels > 1) size += fmt::format(" with {} levels", texture->levels);
    break;
  }
  std::string does =
      fmt::format("{} a texel at x {}, y {} outside of {}{}", verb(fault), static_cast<int32_t>(fault.bytes),
                  static_cast<int32_t>(fault.bytes >> 32), memory.empty() ? "a texture" : memory, size);
  return {std::move(memory), std::nullopt, std::move(does)};
}

Stray stray(const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch, const smelt_cpu_fault& fault) {
  if (fault.buffer == SMELT_CPU_FAULT_TEXTURE) return left_texture(pipeline, dispatch, fault);
  if (fault.buffer == SMELT_CPU_FAULT_HANDLE)
    return {
        "", std::nullopt,
        fmt::format("uses as a {} what is at address {:#x}, through a handle that was read from memory or made from "
                    "a number: the launch was handed none there",
                    fault.bytes == 0 ? "texture" : "sampler", fault.offset)};
  if (const auto place = place_of(fault))
    return {"", std::nullopt, fmt::format("{} {} bytes {}", verb(fault), fault.bytes, *place)};
  Stray result;
  uint64_t has = 0;
  uint64_t element = 1;
  const std::vector<ThreadgroupVariable> variables = threadgroup_variables(fault.variables);
  if (const uint32_t number = fault.buffer - SMELT_CPU_FAULT_VARIABLE; number < variables.size()) {
    result.memory = variables[number].title();
    has = variables[number].bytes;
  } else if (fault.buffer == SMELT_CPU_FAULT_STATIC_THREADGROUP) {
    result.memory = "static threadgroup memory";
    has = pipeline.static_threadgroup_memory_length();
  } else {
    BindingClass kind = BindingClass::buffer;
    uint32_t index = fault.buffer;
    if ((fault.buffer & SMELT_CPU_FAULT_THREADGROUP_ARGUMENT) != 0) {
      kind = BindingClass::threadgroup;
      index = fault.buffer & ~SMELT_CPU_FAULT_THREADGROUP_ARGUMENT;
    }
    result.memory = fmt::format("{} {}", to_string(kind), index);
    if (index < SMELT_CPU_MAX_BUFFERS)
      has = kind == BindingClass::threadgroup ? dispatch.threadgroup_bytes[index] : dispatch.buffer_bytes[index];
    for (const ArgInfo& argument : pipeline.args()) {
      if (argument.index != index) continue;
      const auto tensor = kind == BindingClass::buffer ? tensor_memory(argument, dispatch) : std::nullopt;
      if (tensor) has = tensor->size();
      if (!tensor && class_of(argument.kind) != kind) continue;
      result.memory += fmt::format(" '{}'", argument.name);
      if (argument.size > 1) element = argument.size;
    }
  }
  const auto offset = static_cast<int64_t>(fault.offset);
  std::string place = fmt::format("offset {}", offset);
  if (element > 1 && offset % static_cast<int64_t>(element) == 0)
    place += fmt::format(" (index {})", offset / static_cast<int64_t>(element));
  if (offset >= 0 && offset % static_cast<int64_t>(element) == 0)
    result.element = static_cast<uint64_t>(offset) / element;
  result.does =
      fmt::format("{} {} bytes at {} of {}, which has {} bytes", verb(fault), fault.bytes, place, result.memory, has);
  return result;
}

}  // namespace

std::vector<ThreadgroupVariable> threadgroup_variables(const char* text) {
  std::vector<ThreadgroupVariable> variables;
  std::string_view rest = text != nullptr ? text : "";
  const auto number = [&] {
    uint64_t value = 0;
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    rest.remove_prefix(std::min<size_t>(static_cast<size_t>(read.ptr - rest.data()) + 1, rest.size()));
    return value;
  };
  while (!rest.empty()) {
    ThreadgroupVariable& variable = variables.emplace_back();
    variable.offset = number();
    variable.bytes = number();
    variable.name = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(variable.name.size() + 1, rest.size()));
  }
  return variables;
}

tl::unexpected<Error> faulted(const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch,
                              const smelt_cpu_fault& fault) {
  if (fault.buffer == SMELT_CPU_FAULT_RECURSION)
    return fail(Errc::pipeline_failed,
                "kernel '{}' recurses deeper than the CPU's stack is guaranteed to hold; its results are not complete",
                pipeline.name());
  if (fault.buffer == SMELT_CPU_FAULT_TABLE)
    return fail(
        Errc::pipeline_failed,
        "kernel '{}' calls entry {} of a function table, which holds no visible function of its library with the "
        "type of the call and without function constants; its results are not complete",
        pipeline.name(), fault.offset);
  auto error = fail(Errc::buffer_bounds, "kernel '{}': thread ({}, {}, {}) {}", pipeline.name(), fault.position[0],
                    fault.position[1], fault.position[2], stray(pipeline, dispatch, fault).does);
  error.value().subject = pipeline.name();
  return error;
}

Finding finding_of(const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch, const smelt_cpu_fault& fault) {
  Stray what = stray(pipeline, dispatch, fault);
  Finding finding;
  finding.kind = Finding::Kind::bounds;
  finding.kernel = pipeline.name();
  finding.memory = std::move(what.memory);
  finding.element = what.element;
  finding.first.place = fault.place;
  finding.first.does = std::move(what.does);
  for (size_t i = 0; i < 3; ++i) {
    finding.first.thread[i] = fault.position[i];
    finding.first.group[i] = fault.position[i] / std::max(dispatch.group[i], 1u);
  }
  return finding;
}

}  // namespace smelt::loader
