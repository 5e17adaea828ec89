// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors as arguments: a smelt_cpu_tensor among the encoder's bytes.
#include "smelt/loader/encoder.hpp"
#include "smelt/schema/cpu_abi.h"

#include "library_data.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

namespace smelt::loader {
namespace {

struct TensorElement {
  std::string_view name;
  int32_t type;
  uint64_t bytes;
};
constexpr TensorElement kTensorElements[] = {{"float", 0, 4}, {"half", 1, 2},  {"bfloat", 2, 2},
                                             {"char", 3, 1},  {"uchar", 4, 1}, {"int", 7, 4}};

const TensorElement* tensor_element(std::string_view name) {
  const auto* const found = std::ranges::find(kTensorElements, name, &TensorElement::name);
  return found != std::end(kTensorElements) ? found : nullptr;
}

/// "half" of "tensor<half, dextents<int, 2>>"; nothing where the argument is no tensor.
std::optional<std::string_view> element_of_type(const ArgInfo& argument) {
  std::string_view type = argument.type_name;
  constexpr std::string_view kTensor = "tensor<";
  if (argument.kind != ArgumentKind::other || !type.starts_with(kTensor)) return std::nullopt;
  type.remove_prefix(kTensor.size());
  return type.substr(0, type.find(','));
}

/// 2 of "tensor<half, dextents<int, 2>>" and of "tensor<half, extents<int, 16, 8>>"; nothing for what is not read.
std::optional<int32_t> rank_of_type(std::string_view type) {
  const auto behind = [&](std::string_view word) {
    const size_t at = type.find(word);
    return at == type.npos ? std::string_view() : type.substr(at + word.size());
  };
  std::string_view numbers = behind("dextents<");
  const bool is_count = !numbers.empty();
  if (!is_count) numbers = behind("extents<");
  numbers = numbers.substr(0, numbers.find('>'));
  if (!is_count && !numbers.empty()) return static_cast<int32_t>(std::ranges::count(numbers, ','));
  const size_t comma = numbers.rfind(',');
  if (comma == numbers.npos) return std::nullopt;
  numbers.remove_prefix(comma + 1);
  while (numbers.starts_with(' ')) numbers.remove_prefix(1);
  int32_t rank = 0;
  const auto [end, error] = std::from_chars(numbers.data(), numbers.data() + numbers.size(), rank);
  return error == std::errc() && end == numbers.data() + numbers.size() ? std::optional(rank) : std::nullopt;
}

}  // namespace

Result<void> Encoder::set_tensor(uint32_t index, BufferRef buffer, uint64_t offset, const TensorShape& shape) {
  if (!takes_memory())
    return fail(Errc::unsupported, "set_tensor({}): device {} takes no tensors from here", index, device_->name());
  const TensorElement* const element = tensor_element(shape.element);
  const size_t rank = shape.extents.size();
  if (element == nullptr || rank == 0 || rank > SMELT_CPU_TENSOR_RANK ||
      (!shape.strides.empty() && shape.strides.size() != rank) || !buffer)
    return fail(Errc::invalid_argument,
                "set_tensor({}): want a buffer, elements float, half, bfloat, char, uchar or int, and 1 to {} extents, "
                "with as many strides or none; got '{}', {} extents and {} strides",
                index, int{SMELT_CPU_TENSOR_RANK}, shape.element, rank, shape.strides.size());
  smelt_cpu_tensor record{};
  constexpr uint64_t kMost = std::numeric_limits<int32_t>::max();
  uint64_t next = 1, last = 0;
  bool fits = offset <= buffer->size(), is_empty = false;
  for (size_t i = 0; i < rank && fits; ++i) {
    const uint64_t extent = shape.extents[i], stride = shape.strides.empty() ? next : shape.strides[i];
    fits = extent <= kMost && stride <= kMost;
    if (!fits) break;
    record.extent[i] = static_cast<int32_t>(extent);
    record.stride[i] = static_cast<int32_t>(stride);
    next = extent * stride;
    is_empty |= extent == 0;
    last += extent == 0 ? 0 : (extent - 1) * stride;  // at most 8 * 2^62: checked below before it can wrap
    fits = last <= buffer->size() || is_empty;
  }
  if (fits && !is_empty) fits = (last + 1) * element->bytes <= buffer->size() - offset;
  if (!fits)
    return fail(Errc::invalid_argument,
                "set_tensor({}): elements {} of '{}' from byte {} on leave a buffer of {} bytes", index,
                fmt::join(shape.extents, " x "), shape.element, offset, buffer->size());
  record.data = reinterpret_cast<unsigned char*>(buffer->contents().data()) + offset;
  record.rank = static_cast<int32_t>(rank);
  record.type = element->type;
  record.offset = static_cast<int64_t>(offset);
  record.bytes = static_cast<int64_t>(buffer->size());
  record.object = static_cast<int32_t>(index);
  SMELT_TRY_VOID(set_bytes(index, {reinterpret_cast<const std::byte*>(&record), sizeof record}));
  slots_[index].buffer = std::move(buffer);
  tensors_ |= slot_mask(index);
  return {};
}

Result<void> Encoder::check_tensors(const PipelineState& pipeline) const {
  for (const ArgInfo& argument : pipeline.args()) {
    const auto wanted = element_of_type(argument);
    if (!wanted || argument.unused || argument.conditional || argument.index >= kSlots) continue;
    if ((tensors_ & slot_mask(argument.index)) == 0)
      return fail(Errc::argument_mismatch,
                  "kernel '{}' takes a tensor as buffer {} '{}', which is not bound (set_tensor)", pipeline.name(),
                  argument.index, argument.name);
    smelt_cpu_tensor record{};
    std::copy_n(slots_[argument.index].inlined.data(), sizeof record, reinterpret_cast<std::byte*>(&record));
    const TensorElement* const element = tensor_element(*wanted);
    if (element == nullptr || record.type != element->type)
      return fail(Errc::argument_mismatch,
                  "kernel '{}': buffer {} '{}' is a {}, and the one that is bound has other elements", pipeline.name(),
                  argument.index, argument.name, argument.type_name);
    if (const auto rank = rank_of_type(argument.type_name); rank && *rank != record.rank)
      return fail(Errc::argument_mismatch,
                  "kernel '{}': buffer {} '{}' is a {}, and the one that is bound has {} dimensions", pipeline.name(),
                  argument.index, argument.name, argument.type_name, record.rank);
  }
  return {};
}

std::optional<std::span<const std::byte>> tensor_memory(const ArgInfo& argument, const smelt_cpu_dispatch& dispatch) {
  if (!element_of_type(argument) || argument.index >= SMELT_CPU_MAX_BUFFERS ||
      dispatch.buffers[argument.index] == nullptr || dispatch.buffer_bytes[argument.index] != sizeof(smelt_cpu_tensor))
    return std::nullopt;
  const auto& record = *static_cast<const smelt_cpu_tensor*>(dispatch.buffers[argument.index]);
  return std::span(reinterpret_cast<const std::byte*>(record.data) - record.offset, static_cast<size_t>(record.bytes));
}

}  // namespace smelt::loader
