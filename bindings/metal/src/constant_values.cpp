// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "constant_values.hpp"

#include "smelt/base/floats.hpp"

#include "Metal/MTLLibrary.hpp"
#include "constant_object.hpp"
#include "settings.hpp"

#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>

namespace smelt::metal {
namespace {

struct TypeRow {
  MTL::DataType first;  // of the scalar; vectors of 2, 3, 4 follow
  const char* name;
  size_t bytes;
  loader::Scalar (*read)(const char* at);
};

template <class T>
T get(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}
template <class T, class As>
loader::Scalar read(const char* at) {
  return static_cast<As>(get<T>(at));
}
loader::Scalar read_half(const char* at) {
  return static_cast<double>(from_half_bits(get<uint16_t>(at)));
}
loader::Scalar read_bfloat(const char* at) {
  return static_cast<double>(from_bfloat_bits(get<uint16_t>(at)));
}
loader::Scalar read_bool(const char* at) {
  return *at != 0;
}

constexpr TypeRow kTypes[] = {
    {MTL::DataTypeFloat, "float", 4, read<float, double>},
    {MTL::DataTypeHalf, "half", 2, read_half},
    {MTL::DataTypeInt, "int", 4, read<int32_t, int64_t>},
    {MTL::DataTypeUInt, "uint", 4, read<uint32_t, uint64_t>},
    {MTL::DataTypeShort, "short", 2, read<int16_t, int64_t>},
    {MTL::DataTypeUShort, "ushort", 2, read<uint16_t, uint64_t>},
    {MTL::DataTypeChar, "char", 1, read<int8_t, int64_t>},
    {MTL::DataTypeUChar, "uchar", 1, read<uint8_t, uint64_t>},
    {MTL::DataTypeBool, "bool", 1, read_bool},
    {MTL::DataTypeLong, "long", 8, read<int64_t, int64_t>},
    {MTL::DataTypeULong, "ulong", 8, read<uint64_t, uint64_t>},
    {MTL::DataTypeBFloat, "bfloat", 2, read_bfloat},
};

struct FoundType {
  const TypeRow* row = nullptr;
  size_t components = 0;
};
FoundType find_type(MTL::DataType type) {
  for (const TypeRow& row : kTypes)
    if (type >= row.first && type < row.first + 4) return {&row, type - row.first + 1};
  return {};
}

/// A vector of three takes the room of four.
size_t room_of(const FoundType& type) {
  return type.row == nullptr ? 0 : type.row->bytes * (type.components == 3 ? 4 : type.components);
}

void say_missing(const loader::Function& function, const std::string& missing) {
  static std::mutex lock;
  static std::set<std::string> told;
  const std::lock_guard guard(lock);
  if (told.insert(std::string(function.name())).second)
    std::fprintf(stderr,
                 "smelt: kernel '%s' is given no value for%s; taken as 0 (SMELT_METAL_CONSTANTS=strict: an error)\n",
                 std::string(function.name()).c_str(), missing.c_str());
}

}  // namespace

size_t constant_bytes(MTL::DataType type) {
  return room_of(find_type(type));
}

size_t used_bytes(MTL::DataType type) {
  const FoundType found = find_type(type);
  return found.row == nullptr ? 0 : found.row->bytes * found.components;
}

MTL::DataType data_type_named(std::string_view name) {
  for (const TypeRow& row : kTypes) {
    if (!name.starts_with(row.name)) continue;
    const std::string_view rest = name.substr(std::string_view(row.name).size());
    if (rest.empty()) return row.first;
    if (rest.size() == 1 && rest[0] >= '2' && rest[0] <= '4')
      return static_cast<MTL::DataType>(row.first + static_cast<NS::UInteger>(rest[0] - '1'));
  }
  return MTL::DataTypeNone;
}

Result<loader::ConstantValues> ConstantSet::bind(const loader::Function& function) const {
  loader::ConstantValues values;
  std::string missing;
  for (const loader::ConstantInfo& constant : function.constants()) {
    const Value* value = nullptr;
    if (const auto at = by_index.find(constant.index); at != by_index.end()) value = &at->second;
    if (const auto at = by_name.find(std::string(constant.name)); at != by_name.end()) value = &at->second;
    if (value == nullptr) {
      if (constant.required) missing += fmt::format(" '{}' (#{})", constant.name, constant.index);
      continue;
    }
    const FoundType type = find_type(value->type);
    loader::ConstantValue given{constant.index, {}};
    for (size_t i = 0; i < type.components; ++i)
      given.components.push_back(type.row->read(value->bytes.data() + i * type.row->bytes));
    values.add(std::move(given));
  }
  if (!missing.empty()) {
    if (setting("SMELT_METAL_CONSTANTS") == "strict")
      return fail(Errc::constant_missing, "function '{}' is given no value for{}", function.name(), missing);
    say_missing(function, missing);
  }
  values.lenient();
  return values;
}

}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

FunctionConstantValues* FunctionConstantValues::alloc() {
  return new ConstantValuesObject;
}
FunctionConstantValues* FunctionConstantValues::init() {
  return this;
}
void FunctionConstantValues::reset() {
  static_cast<ConstantValuesObject*>(this)->set = {};
}

namespace {
/// The value's bytes; nothing, which is misuse, for a type that no constant has.
std::optional<ConstantSet::Value> value_at(const char* call, const void* value, DataType type) {
  if (value == nullptr || used_bytes(type) == 0) {
    if (value == nullptr)
      misuse(call, "value is null");
    else
      misuse(call, "type {} cannot be that of a function constant", static_cast<NS::UInteger>(type));
    return std::nullopt;
  }
  return ConstantSet::Value{type, std::string(static_cast<const char*>(value), used_bytes(type))};
}
}  // namespace

void FunctionConstantValues::setConstantValue(const void* value, DataType type, NS::UInteger index) {
  constexpr const char* kCall = "-[MTLFunctionConstantValues setConstantValue:type:atIndex:]";
  auto kept = value_at(kCall, value, type);
  if (!kept) return;
  if (index > 65535) {
    misuse(kCall, "index {} is above 65535", index);
    return;
  }
  static_cast<ConstantValuesObject*>(this)->set.by_index.insert_or_assign(index, std::move(*kept));
}
void FunctionConstantValues::setConstantValue(const void* value, DataType type, const NS::String* name) {
  constexpr const char* kCall = "-[MTLFunctionConstantValues setConstantValue:type:withName:]";
  if (name == nullptr) {
    misuse(kCall, "name is null");
    return;
  }
  auto kept = value_at(kCall, value, type);
  if (kept) static_cast<ConstantValuesObject*>(this)->set.by_name.insert_or_assign(name->text(), std::move(*kept));
}
void FunctionConstantValues::setConstantValues(const void* values, DataType type, const NS::Range& range) {
  constexpr const char* kCall = "-[MTLFunctionConstantValues setConstantValues:type:withRange:]";
  const size_t step = constant_bytes(type);
  for (NS::UInteger i = 0; i < range.length; ++i) {
    auto kept = value_at(kCall, values != nullptr ? static_cast<const char*>(values) + i * step : nullptr, type);
    if (!kept) return;
    static_cast<ConstantValuesObject*>(this)->set.by_index.insert_or_assign(range.location + i, std::move(*kept));
  }
}

}  // namespace MTL
