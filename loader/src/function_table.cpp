// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables of visible functions as arguments: a smelt_cpu_function_table among the encoder's bytes.
#include "smelt/loader/encoder.hpp"
#include "smelt/schema/cpu_abi.h"

#include "library_data.hpp"

#include <cstddef>
#include <cstring>

namespace smelt::loader {

Result<void> check_visible(const Library& library, std::span<const std::string_view> functions) {
  for (const std::string_view name : functions) {
    if (name.empty()) continue;
    SMELT_TRY(const FunctionRef function, library.function(name));
    if (function->kind() != FunctionKind::visible)
      return fail(Errc::function_kind, "'{}' is a {} function; a table has visible functions", name,
                  to_string(function->kind()));
    if (!function->constants().empty())
      return fail(Errc::unsupported,
                  "visible function '{}' reads function constants, so it cannot be called through a table on the CPU",
                  name);
  }
  return {};
}

Result<void> Encoder::set_function_table(uint32_t index, std::optional<std::span<const std::string_view>> functions) {
  SMELT_TRY_VOID(check_slot(index));
  if (!takes_memory())
    return fail(Errc::unsupported, "set_function_table({}): device {} takes no function tables from here", index,
                device_->name());
  const size_t count = functions ? functions->size() : 0;
  const uint32_t head[2] = {static_cast<uint32_t>(count), functions ? 0U : 1U};
  if (head[0] != count)
    return fail(Errc::invalid_argument, "set_function_table({}): {} entries are too many", index, count);
  static_assert(offsetof(smelt_cpu_function_table, functions) == sizeof head);
  SMELT_TRY(const std::span<std::byte> record,
            make_record(BindingClass::table, index, sizeof head + count * sizeof(uint64_t)));
  std::memcpy(record.data(), head, sizeof head);
  for (size_t i = 0; i < count; ++i) {
    const std::string_view name = (*functions)[i];
    const uint64_t id = name.empty() ? 0 : smelt_cpu_function_id(name.data(), name.size());
    std::memcpy(record.data() + sizeof head + i * sizeof id, &id, sizeof id);
  }
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
