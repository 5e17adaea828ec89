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
  ScalarType scalar;
};
constexpr TensorElement kTensorElements[] = {{"float", 0, 4, ScalarType::f32},   {"half", 1, 2, ScalarType::f16},
                                             {"bfloat", 2, 2, ScalarType::bf16}, {"char", 3, 1, ScalarType::i8},
                                             {"uchar", 4, 1, ScalarType::u8},    {"int", 7, 4, ScalarType::i32}};

const TensorElement* element_named(std::string_view name) {
  const auto* const found = std::ranges::find(kTensorElements, name, &TensorElement::name);
  return found != std::end(kTensorElements) ? found : nullptr;
}
const TensorElement* element_of(ScalarType scalar) {
  if (scalar == ScalarType::u16) scalar = ScalarType::bf16;  // NumPy has no bfloat16
  const auto* const found = std::ranges::find(kTensorElements, scalar, &TensorElement::scalar);
  return found != std::end(kTensorElements) ? found : nullptr;
}

constexpr uint64_t kMostTensorExtent = std::numeric_limits<int32_t>::max();  // and stride
constexpr uint64_t kEndlessReach = std::numeric_limits<uint64_t>::max() / 16;

/// Elements from the first to the last, gaps among them; kEndlessReach: so many or more. Numbers are at most
/// kMostTensorExtent.
uint64_t reach_of(const std::vector<uint64_t>& extents, const std::vector<uint64_t>& strides) {
  uint64_t last = 0;
  bool is_empty = false;
  for (size_t i = 0; i < extents.size(); ++i) {
    is_empty |= extents[i] == 0;
    last += extents[i] == 0 ? 0 : (extents[i] - 1) * strides[i];
    if (last >= kEndlessReach) return kEndlessReach;
  }
  return is_empty ? 0 : last + 1;
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

std::optional<std::string_view> tensor_element(const ArgInfo& argument) {
  std::string_view type = argument.type_name;
  constexpr std::string_view kTensor = "tensor<";
  if (argument.kind != ArgumentKind::other || !type.starts_with(kTensor)) return std::nullopt;
  type.remove_prefix(kTensor.size());
  return type.substr(0, type.find(','));
}

Result<void> Encoder::set_tensor(uint32_t index, BufferRef buffer, uint64_t offset, const TensorShape& shape) {
  if (!buffer) return fail(Errc::invalid_argument, "set_tensor({}): no buffer was given", index);
  SMELT_TRY_VOID(bind_tensor(index, buffer->contents(), offset, shape));
  slots_[index].buffer = std::move(buffer);
  return {};
}

Result<void> Encoder::set_tensor(uint32_t index, const ArrayView& array) {
  const TensorElement* const element = element_of(array.element);
  const size_t rank = array.shape.size();
  if (element == nullptr || array.data == nullptr || (!array.strides.empty() && array.strides.size() != rank))
    return fail(Errc::invalid_argument,
                "set_tensor({}): want an array of float32, float16, bfloat16 (or its bits as uint16), int8, uint8 or "
                "int32",
                index);
  TensorShape shape{std::string(element->name), {array.shape.rbegin(), array.shape.rend()}, {}};
  uint64_t next = 1;
  for (size_t i = 0; i < rank; ++i) {
    const uint64_t extent = shape.extents[i];
    const int64_t bytes = array.strides.empty() ? 0 : array.strides[rank - 1 - i];
    // What would follow a single element is no matter.
    const bool counts = !array.strides.empty() && extent > 1;
    if (counts && (bytes < 0 || static_cast<uint64_t>(bytes) % element->bytes != 0))
      return fail(Errc::invalid_argument, "set_tensor({}): a stride of {} bytes is not a number of elements", index,
                  bytes);
    shape.strides.push_back(counts ? static_cast<uint64_t>(bytes) / element->bytes : next);
    if (extent > kMostTensorExtent || shape.strides[i] > kMostTensorExtent)
      return fail(Errc::invalid_argument, "set_tensor({}): extents and strides are at most {}", index,
                  kMostTensorExtent);
    next = std::min(extent * shape.strides[i], kMostTensorExtent + 1);
  }
  const uint64_t reach = reach_of(shape.extents, shape.strides);
  if (reach == kEndlessReach)
    return fail(Errc::invalid_argument, "set_tensor({}): an array of more bytes than can be addressed", index);
  const uint64_t bytes = reach * element->bytes;
  return bind_tensor(index, {array.data, static_cast<size_t>(bytes)}, 0, shape);
}

Result<void> Encoder::bind_tensor(uint32_t index, std::span<std::byte> memory, uint64_t offset,
                                  const TensorShape& shape) {
  if (!takes_memory())
    return fail(Errc::unsupported, "set_tensor({}): device {} takes no tensors from here", index, device_->name());
  const TensorElement* const element = element_named(shape.element);
  const size_t rank = shape.extents.size();
  if (element == nullptr || rank == 0 || rank > SMELT_CPU_TENSOR_RANK ||
      (!shape.strides.empty() && shape.strides.size() != rank))
    return fail(Errc::invalid_argument,
                "set_tensor({}): want elements float, half, bfloat, char, uchar or int, and 1 to {} extents, with as "
                "many strides or none; got '{}', {} extents and {} strides",
                index, int{SMELT_CPU_TENSOR_RANK}, shape.element, rank, shape.strides.size());
  smelt_cpu_tensor record{};
  std::vector<uint64_t> strides = shape.strides;
  uint64_t next = 1, before = 1;
  bool fits = offset <= memory.size();
  for (size_t i = 0; i < rank && fits; ++i) {
    if (shape.strides.empty()) strides.push_back(next);
    const uint64_t extent = shape.extents[i], stride = strides[i];
    if (i == 0 ? stride != 1 : stride < std::max(next, before))
      return fail(
          Errc::invalid_argument,
          "set_tensor({}): strides {} of extents {}; Metal requires 1 for dimension 0, and for each other at least the "
          "one before times the extent there (dimension 0 is an array's last; a transposed array has to be copied)",
          index, fmt::join(shape.strides, ", "), fmt::join(shape.extents, ", "));
    fits = extent <= kMostTensorExtent && stride <= kMostTensorExtent;
    if (!fits) break;
    record.extent[i] = static_cast<int32_t>(extent);
    record.stride[i] = static_cast<int32_t>(stride);
    next = extent * stride;
    before = stride;
  }
  fits = fits && reach_of(shape.extents, strides) <= (memory.size() - offset) / element->bytes;
  if (!fits)
    return fail(Errc::invalid_argument,
                "set_tensor({}): elements {} of '{}' from byte {} on leave a buffer of {} bytes", index,
                fmt::join(shape.extents, " x "), shape.element, offset, memory.size());
  record.data = reinterpret_cast<unsigned char*>(memory.data()) + offset;
  if (reinterpret_cast<uintptr_t>(record.data) % element->bytes != 0)
    return fail(Errc::invalid_argument,
                "set_tensor({}): elements of {} bytes begin at an address that is not a multiple", index,
                element->bytes);
  record.rank = static_cast<int32_t>(rank);
  record.type = element->type;
  record.offset = static_cast<int64_t>(offset);
  record.bytes = static_cast<int64_t>(memory.size());
  record.object = static_cast<int32_t>(index);
  SMELT_TRY_VOID(set_bytes(index, {reinterpret_cast<const std::byte*>(&record), sizeof record}));
  tensors_ |= slot_mask(index);
  return {};
}

Result<void> Encoder::check_tensors(const PipelineState& pipeline) const {
  for (const ArgInfo& argument : pipeline.args()) {
    const auto wanted = tensor_element(argument);
    if (!wanted || argument.unused || argument.conditional || argument.index >= kSlots) continue;
    if ((tensors_ & slot_mask(argument.index)) == 0)
      return fail(Errc::argument_mismatch,
                  "kernel '{}' takes a tensor as buffer {} '{}', which is not bound (set_tensor)", pipeline.name(),
                  argument.index, argument.name);
    smelt_cpu_tensor record{};
    std::copy_n(slots_[argument.index].inlined.data(), sizeof record, reinterpret_cast<std::byte*>(&record));
    const TensorElement* const element = element_named(*wanted);
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

uint64_t tensor_element_bytes(const ArgInfo& argument) {
  const auto wanted = tensor_element(argument);
  const TensorElement* const element = wanted ? element_named(*wanted) : nullptr;
  return element != nullptr ? element->bytes : 1;
}

std::optional<std::span<const std::byte>> tensor_memory(const ArgInfo& argument, const smelt_cpu_dispatch& dispatch) {
  if (!tensor_element(argument) || argument.index >= SMELT_CPU_MAX_BUFFERS ||
      dispatch.buffers[argument.index] == nullptr || dispatch.buffer_bytes[argument.index] != sizeof(smelt_cpu_tensor))
    return std::nullopt;
  const auto& record = *static_cast<const smelt_cpu_tensor*>(dispatch.buffers[argument.index]);
  return std::span(reinterpret_cast<const std::byte*>(record.data) - record.offset, static_cast<size_t>(record.bytes));
}

}  // namespace smelt::loader
