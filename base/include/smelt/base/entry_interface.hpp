// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an entry point takes, once for all modules: its stage, what a caller binds to it, and what the hardware gives.
// Front ends and the reader of AIR's metadata fill it, the CPU lowers it, the loader and Metal's interface bind it.
// Packages keep bytes of their own (ArgumentKind in metal.hpp); class_of() and argument_kind() are the one place where
// the two meet. binding_classes.def is the table of both.
#pragma once

#include "smelt/base/metal.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace smelt {

enum class Stage : uint8_t { kernel, vertex, fragment, mesh, object, tile, visible, intersection };

enum class BindingClass : uint8_t {
#define SMELT_BINDING_CLASS(name, ...) name,
#include "smelt/base/binding_classes.def"
};

/// How far smelt goes with a class: binding_classes.def.
enum class BindingSupport : uint8_t { run, refused };
/// What code is handed for it, and what of it checked code bounds.
enum class BindingForm : uint8_t {
  memory,       ///< the address of a buffer, which has a length
  threadgroup,  ///< the address of threadgroup memory, whose length the launch gives
  handle,       ///< an address that only operations look behind; of several, that of a list of them
  record        ///< likewise, at the index of a buffer
};
struct BindingClassRow {
  std::string_view name;
  uint32_t slots = 0;  ///< that one function has at most: 0 to slots - 1
  BindingSupport support = BindingSupport::refused;
  std::string_view noun;  ///< "a texture"; empty: AIR's own word is clearer
  BindingForm form = BindingForm::record;
};

inline constexpr BindingClassRow kBindingClassRows[] = {
#define SMELT_BINDING_CLASS(name, slots, support, noun, form, ...) \
  {#name, slots, BindingSupport::support, noun, BindingForm::form},
#include "smelt/base/binding_classes.def"
};
inline constexpr size_t kBindingClasses = std::size(kBindingClassRows);

constexpr const BindingClassRow& row_of(BindingClass kind) {
  return kBindingClassRows[static_cast<size_t>(kind)];
}
constexpr bool is_run(BindingClass kind) {
  return row_of(kind).support == BindingSupport::run;
}
constexpr BindingForm form_of(BindingClass kind) {
  return row_of(kind).form;
}
/// The enumerator's spelling.
constexpr std::string_view to_string(BindingClass kind) {
  return row_of(kind).name;
}
/// Of [[buffer(n)]], [[texture(n)]], ...: "buffer", "texture".
std::optional<BindingClass> binding_class_named(std::string_view name);

/// One T for each class: slots of different classes have nothing to do with each other.
template <class T>
class ByClass {
 public:
  constexpr T& operator[](BindingClass kind) { return each_[static_cast<size_t>(kind)]; }
  constexpr const T& operator[](BindingClass kind) const { return each_[static_cast<size_t>(kind)]; }
  bool operator==(const ByClass&) const = default;

 private:
  std::array<T, kBindingClasses> each_{};
};

/// Slots of one class, bit i: slot i. No class has more than textures, which are 128.
__extension__ typedef unsigned __int128 SlotMask;
inline constexpr uint32_t kMaskedSlots = 128;
/// `count` slots from `first` on, at least one; those above 127 are cut off, as nothing can be bound there.
SlotMask slot_mask(uint32_t first, uint32_t count = 1);
/// The lowest slot of a mask that has one.
constexpr uint32_t lowest_slot(SlotMask mask) {
  const auto low = static_cast<uint64_t>(mask);
  return static_cast<uint32_t>(low != 0 ? std::countr_zero(low)
                                        : 64 + std::countr_zero(static_cast<uint64_t>(mask >> 64)));
}

/// The lowest slot that is in `wanted` and not in `there`.
struct BindingSlot {
  BindingClass kind = BindingClass::buffer;
  uint32_t index = 0;
  bool operator==(const BindingSlot&) const = default;
};
std::optional<BindingSlot> first_missing(const ByClass<SlotMask>& wanted, const ByClass<SlotMask>& there);

/// What the caller binds to one parameter.
struct Binding {
  BindingClass kind = BindingClass::buffer;
  uint32_t slot = 0;
  uint32_t count = 1;  ///< slots from `slot` on
  Access access = Access::none;
  bool operator==(const Binding&) const = default;
};

/// What the hardware, or the stage before, gives: nothing is bound.
enum class InputKind : uint8_t {
  builtin,    ///< thread_position_in_grid, vertex_id, ...
  user,       ///< of the stage before, by name
  attribute,  ///< of a vertex, [[attribute(n)]]
  colour      ///< what the render target holds
};
struct Input {
  InputKind kind = InputKind::builtin;
  std::string name;  ///< of a built-in, as Metal writes it: "thread_position_in_grid"
  bool operator==(const Input&) const = default;
};

using EntryParameter = std::variant<Binding, Input>;

struct EntryInterface {
  Stage stage = Stage::kernel;
  std::vector<EntryParameter> parameters;  ///< one for each parameter of the function, in its order
};

/// The class of what a package calls so; nothing for hardware values and for what a newer smelt wrote.
std::optional<BindingClass> class_of(ArgumentKind kind);
/// The other way. A buffer that holds pointers is an argument buffer to packages.
ArgumentKind argument_kind(BindingClass kind, bool is_argument_buffer);

}  // namespace smelt
