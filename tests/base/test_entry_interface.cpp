// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/entry_interface.hpp"

#include <doctest/doctest.h>

namespace smelt {

TEST_CASE("entry_interface_classes_have_their_rows") {
  for (size_t i = 0; i < kBindingClasses; ++i) {
    const auto kind = static_cast<BindingClass>(i);
    CHECK(binding_class_named(to_string(kind)) == kind);
    CHECK(row_of(kind).slots > 0);
    // The loader keeps the slots of what it binds in a mask.
    if (is_run(kind)) CHECK(row_of(kind).slots <= kMaskedSlots);
  }
  CHECK(to_string(BindingClass::tensor) == "tensor");
  CHECK_FALSE(binding_class_named("builtin"));
}

TEST_CASE("entry_interface_rows_say_what_runs_and_what_is_refused") {
  CHECK(binding_class_named("texture") == BindingClass::texture);
  CHECK(row_of(BindingClass::texture).slots == 128);
  CHECK(is_run(BindingClass::texture));
  CHECK(is_run(BindingClass::sampler));
  CHECK(is_run(BindingClass::table));
  CHECK_FALSE(is_run(BindingClass::acceleration_structure));
  CHECK(is_run(BindingClass::buffer));
  CHECK(is_run(BindingClass::threadgroup));
}

TEST_CASE("entry_interface_packages_bytes_and_classes") {
  for (const BindingClass kind : {BindingClass::buffer, BindingClass::threadgroup, BindingClass::texture,
                                  BindingClass::sampler, BindingClass::table, BindingClass::acceleration_structure})
    CHECK(class_of(argument_kind(kind, false)) == kind);
  CHECK(argument_kind(BindingClass::buffer, true) == ArgumentKind::indirect_buffer);
  CHECK(class_of(ArgumentKind::indirect_buffer) == BindingClass::buffer);
  CHECK_FALSE(class_of(ArgumentKind::builtin));
  CHECK_FALSE(class_of(ArgumentKind::other));
  CHECK_FALSE(class_of(static_cast<ArgumentKind>(200)));
}

TEST_CASE("entry_interface_slots_of_classes_are_apart") {
  ByClass<SlotMask> wanted, there;
  CHECK_FALSE(first_missing(wanted, there));
  wanted[BindingClass::buffer] = slot_mask(2, 3);
  wanted[BindingClass::threadgroup] = slot_mask(0, 1);
  CHECK((wanted[BindingClass::buffer] == 0b11100));
  there[BindingClass::buffer] = slot_mask(0, 4);
  CHECK(first_missing(wanted, there) == BindingSlot{BindingClass::buffer, 4});
  there[BindingClass::buffer] |= slot_mask(4, 1);
  CHECK(first_missing(wanted, there) == BindingSlot{BindingClass::threadgroup, 0});
  // A texture in slot 0 is no threadgroup memory there.
  there[BindingClass::texture] = slot_mask(0, 1);
  CHECK(first_missing(wanted, there) == BindingSlot{BindingClass::threadgroup, 0});
  CHECK((slot_mask(127, 5) == SlotMask{1} << 127));
  CHECK((slot_mask(128, 1) == 0));
  CHECK(lowest_slot(slot_mask(3, 2)) == 3);
  CHECK(lowest_slot(slot_mask(100, 20)) == 100);
}

}  // namespace smelt
