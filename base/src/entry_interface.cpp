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

namespace {

struct KindRow {
  ArgumentKind kind;
  BindingClass binding;
};
constexpr KindRow kKindRows[] = {
#define SMELT_ARGUMENT_KIND(name, number, class) {ArgumentKind::name, BindingClass::class},
#include "smelt/base/binding_classes.def"
};

}  // namespace

std::optional<BindingClass> class_of(ArgumentKind kind) {
  for (const KindRow& row : kKindRows)
    if (row.kind == kind) return row.binding;
  return std::nullopt;  // nothing is bound, or a number that a newer smelt wrote
}

ArgumentKind argument_kind(BindingClass kind, bool is_argument_buffer) {
  if (kind == BindingClass::buffer && is_argument_buffer) return ArgumentKind::indirect_buffer;
  for (const KindRow& row : kKindRows)
    if (row.binding == kind) return row.kind;
  return ArgumentKind::other;  // packages have no number for it yet
}

}  // namespace smelt
