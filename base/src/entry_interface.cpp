// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/entry_interface.hpp"

#include <algorithm>

namespace smelt {

std::optional<BindingClass> binding_class_named(std::string_view name) {
  for (size_t i = 0; i < kBindingClasses; ++i)
    if (kBindingClassRows[i].name == name) return static_cast<BindingClass>(i);
  return std::nullopt;
}

SlotMask slot_mask(uint32_t first, uint32_t count) {
  SlotMask mask = 0;
  for (uint32_t i = 0; i < std::max(count, 1U) && first + uint64_t{i} < kMaskedSlots; ++i)
    mask |= SlotMask{1} << (first + i);
  return mask;
}

std::optional<BindingSlot> first_missing(const ByClass<SlotMask>& wanted, const ByClass<SlotMask>& there) {
  for (size_t i = 0; i < kBindingClasses; ++i) {
    const auto kind = static_cast<BindingClass>(i);
    if (const SlotMask missing = wanted[kind] & ~there[kind]; missing != 0)
      return BindingSlot{kind, lowest_slot(missing)};
  }
  return std::nullopt;
}

std::optional<BindingClass> class_of(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::buffer:
    case ArgumentKind::indirect_buffer:
    case ArgumentKind::stage_input:  // arrays are bound as buffers are
    case ArgumentKind::stage_output:
      return BindingClass::buffer;
    case ArgumentKind::threadgroup:
      return BindingClass::threadgroup;
    case ArgumentKind::texture:
      return BindingClass::texture;
    case ArgumentKind::sampler:
      return BindingClass::sampler;
    case ArgumentKind::function_table:
      return BindingClass::table;
    case ArgumentKind::acceleration_structure:
      return BindingClass::acceleration_structure;
    case ArgumentKind::other:
    case ArgumentKind::builtin:
      return std::nullopt;
  }
  return std::nullopt;  // a number that a newer smelt wrote
}

ArgumentKind argument_kind(BindingClass kind, bool is_argument_buffer) {
  switch (kind) {
    case BindingClass::buffer:
      return is_argument_buffer ? ArgumentKind::indirect_buffer : ArgumentKind::buffer;
    case BindingClass::threadgroup:
      return ArgumentKind::threadgroup;
    case BindingClass::texture:
      return ArgumentKind::texture;
    case BindingClass::sampler:
      return ArgumentKind::sampler;
    case BindingClass::table:
      return ArgumentKind::function_table;
    case BindingClass::acceleration_structure:
      return ArgumentKind::acceleration_structure;
    case BindingClass::tensor:
      return ArgumentKind::other;  // packages have no byte for it yet
  }
  return ArgumentKind::other;
}

}  // namespace smelt
