// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "interface/stage_arrays.hpp"

#include "interface/entry.hpp"
#include "llvm_support/format.hpp"

#include "llvm/IR/Module.h"

#include <algorithm>
#include <set>

namespace smelt::aot::air {
namespace {

constexpr uint32_t kBufferSlots = row_of(BindingClass::buffer).slots;

struct UsualRow {
  std::string_view kind;
  UsualValue value;
};
// What a draw without instances, layers and samples has.
constexpr UsualRow kUsual[] = {{"vertex_id", {0, true}},
                               {"instance_id", {}},
                               {"base_vertex", {}},
                               {"base_instance", {}},
                               {"amplification_id", {}},
                               {"amplification_count", {1}},
                               {"front_facing", {1}},
                               {"primitive_id", {}},
                               {"sample_id", {}},
                               {"sample_mask_in", {~uint64_t{0}}},
                               {"render_target_array_index", {}},
                               {"viewport_array_index", {}}};

/// Positions in SIMD-groups, which the launch itself has.
bool is_of_launch(std::string_view kind) {
  return kind.find("simdgroup") != kind.npos || kind.find("quadgroup") != kind.npos;
}

std::string_view plain(std::string_view kind) {
  return kind.starts_with("air.") ? kind.substr(4) : kind;
}

/// A result that is no member has no name: "color0", "depth", "position".
std::string name_of(const EntryArgumentNode& value) {
  if (!value.name.empty()) return value.name;
  const std::string_view kind = plain(value.kind);
  if (kind != "render_target") return std::string(kind);
  return fmt::format("color{}", value.words.empty() ? "0" : value.words.front());
}

std::string unlike(std::set<std::string>& taken, const std::string& name) {
  std::string made = name;
  for (unsigned i = 2; !taken.insert(made).second; ++i) made = fmt::format("{}_{}", name, i);
  return made;
}

class Finder {
 public:
  Finder(const llvm::Module& module, const llvm::MDNode& entry, const llvm::Function& function)
      : module_(module), entry_(entry), function_(function) {}

  Result<std::vector<StageArray>> find() {
    SMELT_TRY_VOID(find_inputs());
    SMELT_TRY_VOID(find_results());
    for (StageArray& array : arrays_) SMELT_TRY_VOID(place(array));
    return std::move(arrays_);
  }

 private:
  Result<void> find_inputs() {
    const llvm::MDNode* const list = inputs_of(entry_);
    for (unsigned i = 0; list != nullptr && i < list->getNumOperands(); ++i) {
      const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(list->getOperand(i));
      const auto argument = node != nullptr ? read_argument(*node) : std::nullopt;
      if (!argument || argument->index >= function_.arg_size())
        return fail(Errc::corrupt, "input {} of '{}' has no parameter", i, function_.getName());
      if (const auto kind = class_of_kind(argument->kind)) {
        if (!argument->name.empty()) inputs_.insert(argument->name);
        const ArgumentSlots slots = argument->slots.value_or(ArgumentSlots{});
        if (kind == BindingClass::buffer || kind == BindingClass::table ||
            kind == BindingClass::acceleration_structure)  // which have a buffer's slot
          for (uint32_t k = 0; k < slots.count && slots.first + k < kBufferSlots; ++k) taken_.insert(slots.first + k);
        continue;
      }
      if (is_of_launch(argument->kind)) continue;
      const llvm::Argument& parameter = *function_.getArg(argument->index);
      SMELT_TRY(StageArray array, array_of(*argument, *parameter.getType()));
      array.index = argument->index;
      array.used = !parameter.use_empty();
      array.optional |= !array.used || usual_value(array.kind) != nullptr;
      arrays_.push_back(std::move(array));
    }
    for (StageArray& array : arrays_) array.name = unlike(inputs_, array.name);
    return {};
  }

  Result<void> find_results() {
    const llvm::MDNode* const list = outputs_of(entry_);
    const unsigned count = list != nullptr ? list->getNumOperands() : 0;
    llvm::Type* const type = function_.getReturnType();
    const auto* members = llvm::dyn_cast<llvm::StructType>(type);
    const unsigned returned = type->isVoidTy() ? 0 : members != nullptr ? members->getNumElements() : 1;
    if (count != returned)
      return fail(Errc::corrupt, "'{}' returns {} values, its metadata lists {}", function_.getName(), returned, count);
    std::set<std::string> names;
    for (unsigned i = 0; i < count; ++i) {
      const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(list->getOperand(i));
      if (node == nullptr) return fail(Errc::corrupt, "result {} of '{}' has no metadata", i, function_.getName());
      SMELT_TRY(StageArray array,
                array_of(read_result(*node), members != nullptr ? *members->getElementType(i) : *type));
      array.role = StageArray::Role::result;
      array.index = i;
      array.name = unlike(names, array.name);
      array.optional = true;
      arrays_.push_back(std::move(array));
    }
    if (const llvm::Function* discard = module_.getFunction("air.discard_fragment");
        discard != nullptr && !discard->use_empty())
      arrays_.push_back({.role = StageArray::Role::discarded,
                         .index = count,
                         .name = unlike(names, "discarded"),
                         .kind = "discarded",
                         .type_name = "bool",
                         .bytes = 1,
                         .optional = true});
    return {};
  }

  Result<StageArray> array_of(const EntryArgumentNode& value, llvm::Type& type) const {
    const ElementParts parts = parts_of(type);
    if (parts.count == 0)
      return fail(Errc::unsupported,
                  "'{}' of '{}' is neither a number nor a vector or array of numbers: not supported on the CPU",
                  name_of(value), function_.getName());
    StageArray array;
    array.name = name_of(value);
    array.kind = plain(value.kind);
    array.type_name = value.type_name;
    array.bytes = parts.count * parts.scalar_bytes;
    array.optional = value.is_conditional;
    return array;
  }

  Result<void> place(StageArray& array) {
    while (next_ > 0 && taken_.count(next_ - 1) != 0) --next_;
    if (next_ == 0)
      return fail(Errc::unsupported,
                  "'{}' has {} inputs and results and {} buffers; the CPU has {} slots for all of them",
                  function_.getName(), arrays_.size(), taken_.size(), kBufferSlots);
    array.slot = --next_;
    return {};
  }

  const llvm::Module& module_;
  const llvm::MDNode& entry_;
  const llvm::Function& function_;
  std::set<std::string> inputs_;  ///< names
  std::set<uint32_t> taken_;      ///< slots of buffers and tables
  uint32_t next_ = kBufferSlots;
  std::vector<StageArray> arrays_;
};

}  // namespace

const UsualValue* usual_value(std::string_view kind) {
  const auto* found =
      std::find_if(std::begin(kUsual), std::end(kUsual), [&](const UsualRow& row) { return row.kind == kind; });
  return found != std::end(kUsual) ? &found->value : nullptr;
}

ElementParts parts_of(llvm::Type& type) {
  ElementParts parts{&type, 1, 0};
  if (const auto* array = llvm::dyn_cast<llvm::ArrayType>(&type); array != nullptr && array->getNumElements() <= 64)
    parts = {array->getElementType(), static_cast<uint32_t>(array->getNumElements()), 0};
  else if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(&type))
    parts = {vector->getElementType(), vector->getNumElements(), 0};
  llvm::Type& scalar = *parts.scalar;
  const bool is_number = scalar.isIntegerTy() || scalar.isFloatTy() || scalar.isHalfTy() || scalar.isBFloatTy();
  if (!is_number || scalar.getScalarSizeInBits() > 64) return {};
  parts.scalar_bytes = std::max(1u, scalar.getScalarSizeInBits() / 8);
  return parts;
}

Result<std::vector<StageArray>> stage_arrays(const llvm::Module& module, const llvm::MDNode& entry,
                                             std::string_view stage) {
  if (stage != "vertex" && stage != "fragment") return std::vector<StageArray>();
  const llvm::Function* const function = function_of(entry);
  if (function == nullptr) return fail(Errc::corrupt, "an entry of !air.{} names no function", stage);
  return Finder(module, entry, *function).find();
}

}  // namespace smelt::aot::air
