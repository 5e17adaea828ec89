// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finished functions in Metal's container.
#include "smelt/aot/simulators.hpp"
#include "smelt/aot/stage_info.hpp"
#include "smelt/metallib/names.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/writer.hpp"

#include "units/units.hpp"

namespace smelt::aot {
namespace {

metallib::FunctionType type_of(std::string_view stage) {
  const auto type = metallib::parse_function_type(stage);
  return type ? static_cast<metallib::FunctionType>(*type) : metallib::FunctionType::unqualified;
}

/// Metal's number of a type; 0 for one that it has no number of.
uint8_t data_type_of(std::string_view name) {
  for (unsigned number = 0; number < 256; ++number)
    if (metallib::data_type_name(static_cast<uint8_t>(number)) == name) return static_cast<uint8_t>(number);
  return 0;
}

/// Of the render target's index that a vertex function returns.
std::optional<uint8_t> layer_type_of(const StageInfo& stage) {
  for (const StageValueInfo& result : stage.results)
    if (result.air_kind == "air.render_target_array_index") return data_type_of(result.type_name);
  return std::nullopt;
}

/// Of a vertex function of a patch: what it is, and how many control points it has.
std::optional<uint8_t> tessellation_of(const StageInfo& stage) {
  if (stage.patch.empty()) return std::nullopt;
  const unsigned shape = stage.patch == "triangle" ? 1 : 2;
  return static_cast<uint8_t>(shape | (std::min(stage.control_points, 63u) << 2));
}

metallib::Platform container_platform(const Target& target) {
  const bool simulator = is_simulator(target);
  switch (target.platform) {
    case Platform::ios:
      return simulator ? metallib::Platform::ios_simulator : metallib::Platform::ios;
    case Platform::tvos:
      return simulator ? metallib::Platform::tvos_simulator : metallib::Platform::tvos;
    default:
      return metallib::Platform::macos;
  }
}

metallib::NewFunction original_function(const Unit& unit) {
  metallib::NewFunction function;
  function.name = unit.all->front().name;
  function.type = type_of(unit.all->front().stage);
  function.bitcode = unit.original;
  function.versions = unit.versions;
  function.constants = unit.constants;
  function.vertex_attributes = unit.vertex_attributes;
  function.layer_type = unit.layer_type;
  function.tessellation = unit.tessellation;
  return function;
}

/// But for what its unit says of it.
metallib::NewFunction built_function(const CompiledFunction& built) {
  metallib::NewFunction function;
  function.name = built.info.name;
  function.type = type_of(built.info.stage);
  function.bitcode = built.bitcode;
  function.versions = {built.info.air.major, built.info.air.minor, built.info.language.major,
                       built.info.language.minor};
  return function;
}

Result<Bytes> write_library(const Target& target, std::vector<metallib::NewFunction> functions) {
  metallib::NewLibrary library;
  library.patch = target.container_patch;
  library.platform = container_platform(target);
  library.os_major = target.os.major;
  library.os_minor = static_cast<uint8_t>(target.os.minor);
  library.os_patch = static_cast<uint8_t>(target.os.patch);
  library.functions = std::move(functions);
  SMELT_TRY(const metallib::Library made, metallib::make_library(library));
  return metallib::write(made);
}

}  // namespace

Result<Bytes> original_library(const Target& target, std::span<const Unit* const> units,
                               std::span<const CompiledFunction> built) {
  std::vector<metallib::NewFunction> functions;
  for (const Unit* const unit : units) functions.push_back(original_function(*unit));
  for (const CompiledFunction& function : built) functions.push_back(built_function(function));
  return write_library(target, std::move(functions));
}

Result<Bytes> make_metallib(const CompiledTarget& compiled, const Unit& unit) {
  std::vector<metallib::NewFunction> functions;
  for (const CompiledFunction& function : compiled.functions) {
    if (function.info.cpu_only) continue;  // no Metal device is ever given it
    metallib::NewFunction added = built_function(function);
    added.constants = unit.constants;
    added.vertex_attributes = unit.vertex_attributes;
    added.layer_type = unit.layer_type;
    added.tessellation = unit.tessellation;
    if (!unit.from_metallib()) {
      for (const ConstantInfo& constant : function.info.constants)
        added.constants.push_back({.name = constant.name,
                                   .type = data_type_of(constant.type_name),
                                   .index = static_cast<uint16_t>(constant.index)});
      for (const ArgumentInfo& argument : function.info.arguments)
        if (argument.air_kind == "air.vertex_input" || argument.air_kind == "air.patch_input" ||
            argument.air_kind == "air.stage_in")
          added.vertex_attributes.push_back({.name = argument.name,
                                             .index = static_cast<uint16_t>(argument.location),
                                             .use = static_cast<uint8_t>(argument.air_kind == "air.patch_input"),
                                             .active = !argument.unused,
                                             .type = data_type_of(argument.type_name)});
      if (function.info.stage == "vertex") {
        SMELT_TRY(const std::vector<StageInfo> stages, describe_stages(function.bitcode, function.info.name));
        for (const StageInfo& stage : stages) {
          added.layer_type = layer_type_of(stage);
          added.tessellation = tessellation_of(stage);
          for (const StageAttributeInfo& attribute : stage.control_point_attributes)
            added.vertex_attributes.push_back({.name = attribute.name,
                                               .index = static_cast<uint16_t>(attribute.index),
                                               .use = 2,
                                               .active = !attribute.unused,
                                               .type = data_type_of(attribute.type_name)});
        }
      }
    }
    functions.push_back(std::move(added));
  }
  return write_library(compiled.target, std::move(functions));
}

Result<Bytes> join_libraries(const Target& target, std::span<const ByteView> libraries) {
  std::vector<metallib::NewFunction> functions;
  std::vector<metallib::Library> read;  // the functions point into them
  read.reserve(libraries.size());
  for (const ByteView bytes : libraries) {
    SMELT_TRY(metallib::Library library, metallib::read(bytes));
    read.push_back(std::move(library));
    for (const metallib::Function& function : read.back().functions) {
      metallib::NewFunction added;
      added.name = function.name;
      added.type = static_cast<metallib::FunctionType>(
          function.type.value_or(static_cast<uint8_t>(metallib::FunctionType::unqualified)));
      added.bitcode = read.back().module_of(function).bitcode();
      added.versions = function.versions;
      SMELT_TRY(added.constants, metallib::constants_of(read.back().public_of(function)));
      SMELT_TRY(added.vertex_attributes, metallib::vertex_attributes_of(read.back().public_of(function)));
      added.layer_type = function.layer_type;
      added.tessellation = function.tessellation;
      functions.push_back(std::move(added));
    }
  }
  return write_library(target, std::move(functions));
}

}  // namespace smelt::aot
