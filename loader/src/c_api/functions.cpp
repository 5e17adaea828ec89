// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions, their arguments and constants, and pipelines in C.
#include "smelt/base/floats.hpp"

#include "handles.hpp"

using namespace smelt;
using namespace smelt::loader;
using namespace smelt::c_api;

namespace {

static_assert(SMELT_TYPE_FLOAT32 == static_cast<int>(ScalarType::f32));

void set_type(std::string_view name, int32_t& type, uint32_t& components) {
  const ValueType parsed = parse_value_type(name);
  type = static_cast<int32_t>(parsed.scalar);
  components = parsed.components;
}

Result<void> write_argument(std::span<const ArgInfo> arguments, size_t index, smelt_arg_info* info,
                            const char* function) {
  if (index >= arguments.size())
    return fail(Errc::invalid_argument, "{}: index {} of {}", function, index, arguments.size());
  const ArgInfo& argument = arguments[index];
  smelt_arg_info filled{};
  set_text(argument.name, filled.name, filled.name_length);
  set_text(argument.type_name, filled.type_name, filled.type_name_length);
  filled.index = argument.index;
  filled.kind = static_cast<int32_t>(argument.kind);
  filled.access = static_cast<int32_t>(argument.access);
  filled.address_space = argument.address_space;
  filled.size = argument.size;
  filled.align = argument.align;
  filled.unused = argument.unused ? 1 : 0;
  filled.conditional = argument.conditional ? 1 : 0;
  filled.array_size = argument.array_size;
  filled.member_count = argument.members.size();
  set_type(argument.type_name, filled.type, filled.type_components);
  return write_info(info, filled, function);
}

Result<void> write_member(std::span<const ArgInfo> arguments, size_t index, size_t member, smelt_member_info* info,
                          const char* function) {
  if (index >= arguments.size())
    return fail(Errc::invalid_argument, "{}: index {} of {}", function, index, arguments.size());
  if (member >= arguments[index].members.size())
    return fail(Errc::invalid_argument, "{}: member {} of {}", function, member, arguments[index].members.size());
  const MemberInfo& from = arguments[index].members[member];
  smelt_member_info filled{};
  set_text(from.name, filled.name, filled.name_length);
  set_text(from.type_name, filled.type_name, filled.type_name_length);
  filled.kind = static_cast<int32_t>(from.kind);
  filled.id = from.id;
  filled.offset = from.offset;
  filled.size = from.size;
  filled.element_count = from.count;
  return write_info(info, filled, function);
}

/// Components of C type T, read as they lie, which need not be aligned.
template <class T, class Convert>
void append(ConstantValue& value, const smelt_constant& from, Convert&& convert) {
  for (size_t i = 0; i < from.count; ++i) {
    T component;
    std::memcpy(&component, static_cast<const char*>(from.components) + i * sizeof(T), sizeof(T));
    value.components.emplace_back(convert(component));
  }
}

bool append_components(ConstantValue& value, const smelt_constant& from) {
  const auto boolean = [](uint8_t v) { return v != 0; };
  const auto whole = [](auto v) { return static_cast<int64_t>(v); };
  const auto natural = [](auto v) { return static_cast<uint64_t>(v); };
  const auto real = [](auto v) { return static_cast<double>(v); };
  switch (from.kind) {
    case SMELT_CONSTANT_BOOL:
    case SMELT_CONSTANT_OF(SMELT_TYPE_BOOL):
      return append<uint8_t>(value, from, boolean), true;
    case SMELT_CONSTANT_INT:
    case SMELT_CONSTANT_OF(SMELT_TYPE_INT64):
      return append<int64_t>(value, from, whole), true;
    case SMELT_CONSTANT_UINT:
    case SMELT_CONSTANT_OF(SMELT_TYPE_UINT64):
      return append<uint64_t>(value, from, natural), true;
    case SMELT_CONSTANT_FLOAT:
      return append<double>(value, from, real), true;
    case SMELT_CONSTANT_OF(SMELT_TYPE_INT8):
      return append<int8_t>(value, from, whole), true;
    case SMELT_CONSTANT_OF(SMELT_TYPE_UINT8):
      return append<uint8_t>(value, from, natural), true;
    case SMELT_CONSTANT_OF(SMELT_TYPE_INT16):
      return append<int16_t>(value, from, whole), true;
    case SMELT_CONSTANT_OF(SMELT_TYPE_UINT16):
      return append<uint16_t>(value, from, natural), true;
    case SMELT_CONSTANT_OF(SMELT_TYPE_INT32):
      return append<int32_t>(value, from, whole), true;
    case SMELT_CONSTANT_OF(SMELT_TYPE_UINT32):
      return append<uint32_t>(value, from, natural), true;
    case SMELT_CONSTANT_OF(SMELT_TYPE_FLOAT16):
      return append<uint16_t>(value, from, [](uint16_t v) { return double{from_half_bits(v)}; }), true;
    case SMELT_CONSTANT_OF(SMELT_TYPE_BFLOAT16):
      return append<uint16_t>(value, from, [](uint16_t v) { return double{from_bfloat_bits(v)}; }), true;
    case SMELT_CONSTANT_OF(SMELT_TYPE_FLOAT32):
      return append<float>(value, from, real), true;
    default:
      return false;
  }
}

Result<ConstantValues> to_values(const smelt_constant* constants, size_t count, const char* function) {
  ConstantValues values;
  if (count != 0 && constants == nullptr) return null_argument(function, "constants");
  for (size_t i = 0; i < count; ++i) {
    const smelt_constant& from = constants[i];
    ConstantValue value;
    if (from.name != nullptr)
      value.key = std::string(from.name, from.name_length);
    else
      value.key = from.index;
    if (from.components == nullptr || from.count == 0 || from.count > 16)
      return fail(Errc::invalid_argument, "{}: constant {} has {} components{}", function, i, from.count,
                  from.components == nullptr ? " at null" : "");
    if (!append_components(value, from))
      return fail(Errc::invalid_argument, "{}: constant {} has kind {}; want a SMELT_CONSTANT_ value", function, i,
                  from.kind);
    values.add(std::move(value));
  }
  return values;
}

}  // namespace

// ---- functions ----

smelt_status smelt_function_get_info(const smelt_function* function, smelt_function_info* info) {
  return guard([&]() -> Result<void> {
    if (function == nullptr) return null_argument("smelt_function_get_info", "function");
    smelt_function_info filled{};
    set_text(function->ref->name(), filled.name, filled.name_length);
    filled.kind = static_cast<int32_t>(function->ref->kind());
    filled.metal_version[0] = function->ref->metal_version().major;
    filled.metal_version[1] = function->ref->metal_version().minor;
    filled.arg_count = function->ref->args().size();
    filled.constant_count = function->ref->constants().size();
    return write_info(info, filled, "smelt_function_get_info");
  });
}

smelt_status smelt_function_arg(const smelt_function* function, size_t index, smelt_arg_info* info) {
  return guard([&]() -> Result<void> {
    if (function == nullptr) return null_argument("smelt_function_arg", "function");
    return write_argument(function->ref->args(), index, info, "smelt_function_arg");
  });
}

smelt_status smelt_function_constant(const smelt_function* function, size_t index, smelt_constant_info* info) {
  return guard([&]() -> Result<void> {
    if (function == nullptr) return null_argument("smelt_function_constant", "function");
    if (index >= function->ref->constants().size())
      return fail(Errc::invalid_argument, "smelt_function_constant: index {} of {}", index,
                  function->ref->constants().size());
    const ConstantInfo& constant = function->ref->constants()[index];
    smelt_constant_info filled{};
    set_text(constant.name, filled.name, filled.name_length);
    set_text(constant.type_name, filled.type_name, filled.type_name_length);
    filled.index = constant.index;
    filled.required = constant.required ? 1 : 0;
    set_type(constant.type_name, filled.type, filled.type_components);
    return write_info(info, filled, "smelt_function_constant");
  });
}

smelt_status smelt_function_usable(const smelt_function* function) {
  return guard([&]() -> Result<void> {
    if (function == nullptr) return null_argument("smelt_function_usable", "function");
    return function->ref->usable();
  });
}

smelt_status smelt_function_get_pipeline(smelt_function* function, const smelt_constant* constants, size_t count,
                                         smelt_pipeline** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    if (function == nullptr || out == nullptr) return null_argument("smelt_function_get_pipeline", "function or out");
    SMELT_TRY(const ConstantValues values, to_values(constants, count, "smelt_function_get_pipeline"));
    return give(out, function->ref->pipeline(values));
  });
}

smelt_status smelt_function_make_pipeline(smelt_function* function, const smelt_pipeline_options* given,
                                          smelt_pipeline** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    constexpr const char* kFunction = "smelt_function_make_pipeline";
    if (function == nullptr || out == nullptr) return null_argument(kFunction, "function or out");
    SMELT_TRY(const smelt_pipeline_options options, read_options(given, kFunction));
    SMELT_TRY(ConstantValues values, to_values(options.constants, options.constant_count, kFunction));
    return give(out, function->ref->pipeline(values.lenient(options.lenient != 0)));
  });
}

// ---- pipelines ----

smelt_status smelt_pipeline_info(const smelt_pipeline* pipeline, smelt_pipeline_limits* limits) {
  return guard([&]() -> Result<void> {
    if (pipeline == nullptr) return null_argument("smelt_pipeline_info", "pipeline");
    smelt_pipeline_limits filled{};
    filled.max_threads_per_threadgroup = pipeline->ref->max_threads_per_threadgroup();
    filled.thread_execution_width = pipeline->ref->thread_execution_width();
    filled.static_threadgroup_memory_length = pipeline->ref->static_threadgroup_memory_length();
    if (const auto& group = pipeline->ref->required_group()) {
      filled.required_group[0] = group->x;
      filled.required_group[1] = group->y;
      filled.required_group[2] = group->z;
    }
    filled.limits_estimated = pipeline->ref->limits_estimated() ? 1 : 0;
    return write_info(limits, filled, "smelt_pipeline_info");
  });
}

smelt_status smelt_pipeline_name(const smelt_pipeline* pipeline, const char** name, size_t* length) {
  clear(name);
  clear(length);
  return guard([&]() -> Result<void> {
    if (pipeline == nullptr || name == nullptr || length == nullptr)
      return null_argument("smelt_pipeline_name", "pipeline, name or length");
    set_text(pipeline->ref->name(), *name, *length);
    return {};
  });
}

size_t smelt_pipeline_arg_count(const smelt_pipeline* pipeline) {
  return pipeline == nullptr ? 0 : pipeline->ref->args().size();
}

smelt_status smelt_pipeline_arg(const smelt_pipeline* pipeline, size_t index, smelt_arg_info* info) {
  return guard([&]() -> Result<void> {
    if (pipeline == nullptr) return null_argument("smelt_pipeline_arg", "pipeline");
    return write_argument(pipeline->ref->args(), index, info, "smelt_pipeline_arg");
  });
}

smelt_status smelt_pipeline_arg_member(const smelt_pipeline* pipeline, size_t index, size_t member,
                                       smelt_member_info* info) {
  return guard([&]() -> Result<void> {
    if (pipeline == nullptr) return null_argument("smelt_pipeline_arg_member", "pipeline");
    return write_member(pipeline->ref->args(), index, member, info, "smelt_pipeline_arg_member");
  });
}
