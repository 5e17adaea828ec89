// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables of visible functions as arguments: a smelt_cpu_function_table among the encoder's bytes.
#include "smelt/loader/encoder.hpp"
#include "smelt/schema/cpu_abi.h"

#include "library_data.hpp"

#include <cstddef>
#include <cstring>

namespace smelt::loader {

Result<void> Encoder::set_function_table(uint32_t index, std::optional<std::span<const std::string_view>> functions) {
  SMELT_TRY_VOID(check_slot(index));
  if (!takes_memory())
    return fail(Errc::unsupported, "set_function_table({}): device {} takes no function tables from here", index,
                device_->name());
  const uint32_t none[2] = {0, functions ? 0U : 1U};
  std::vector<std::byte> record(sizeof none);
  std::memcpy(record.data(), none, sizeof none);
  static_assert(offsetof(smelt_cpu_function_table, functions) == sizeof none);
  if (functions) {
    const auto size = static_cast<uint32_t>(functions->size());
    if (size != functions->size())
      return fail(Errc::invalid_argument, "set_function_table({}): {} entries are too many", index, functions->size());
    std::memcpy(record.data() + offsetof(smelt_cpu_function_table, size), &size, sizeof size);
    for (const std::string_view name : *functions) {
      const uint64_t id = name.empty() ? 0 : smelt_cpu_function_id(name.data(), name.size());
      const size_t at = record.size();
      record.resize(at + sizeof id);
      std::memcpy(record.data() + at, &id, sizeof id);
    }
  }
  SMELT_TRY_VOID(set_bytes(index, record));
  bound_[BindingClass::table] |= slot_mask(index);
  return {};
}

Result<void> Encoder::check_tables(const PipelineState& pipeline) const {
  if (bound_[BindingClass::table] == 0) return {};
  for (const ArgInfo& argument : pipeline.args())
    if (class_of(argument.kind) == BindingClass::buffer && !argument.unused && argument.index < kSlots &&
        (bound_[BindingClass::table] & slot_mask(argument.index)) != 0)
      return fail(Errc::argument_mismatch, "kernel '{}': buffer {} '{}' is a {}, and a function table is bound there",
                  pipeline.name(), argument.index, argument.name, argument.type_name);
  return {};
}

}  // namespace smelt::loader
