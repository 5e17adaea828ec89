// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/facts/stage_reader.hpp"

#include "interface/entry.hpp"
#include "kernel_ir/builtins.hpp"
#include "msl/facts/annotations.hpp"
#include "msl/facts/imageblock_reader.hpp"
#include "msl/facts/intersection_tags.hpp"
#include "msl/facts/read_facts.hpp"
#include "msl/facts/report.hpp"

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecordLayout.h"
#include "clang/Sema/Sema.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

namespace smelt::aot::msl {
namespace {

/// What a value with an attribute may be.
enum class Types : uint8_t {
  whole,
  truth,
  one_float,
  two_floats,
  three_floats,
  vector,
  four_floats,
  floats,
  place,
  any
};

std::string_view words_for(Types types) {
  switch (types) {
    case Types::whole:
      return "ushort or uint";
    case Types::truth:
      return "bool";
    case Types::one_float:
      return "float";
    case Types::two_floats:
      return "float2";
    case Types::three_floats:
      return "float, float2 or float3";
    case Types::vector:
      return "float3";
    case Types::four_floats:
      return "float4";
    case Types::floats:
      return "float or an array of it";
    case Types::place:
      return "float2 in a quad, float3 in a triangle";
    case Types::any:
      return "a scalar or a vector of numbers";
  }
  return {};
}

struct AttributeUse {
  llvm::StringLiteral attribute;
  Stage stage;
  bool is_result;
  Types types;
  std::string_view kind;
};
// Evidence, and what is inferred: docs/formats/air.md 1.11.
constexpr AttributeUse kUses[] = {
    {"vertex_id", Stage::vertex, false, Types::whole, "air.vertex_id"},
    {"instance_id", Stage::vertex, false, Types::whole, "air.instance_id"},
    {"base_vertex", Stage::vertex, false, Types::whole, "air.base_vertex"},
    {"base_instance", Stage::vertex, false, Types::whole, "air.base_instance"},
    {"amplification_id", Stage::vertex, false, Types::whole, "air.amplification_id"},
    {"amplification_count", Stage::vertex, false, Types::whole, "air.amplification_count"},
    {"attribute", Stage::vertex, false, Types::any, "air.vertex_input"},
    {"patch_id", Stage::vertex, false, Types::whole, "air.patch_id"},
    {"position_in_patch", Stage::vertex, false, Types::place, "air.position_in_patch"},
    {"attribute", Stage::kernel, false, Types::any, "air.stage_in"},
    {"position", Stage::vertex, true, Types::four_floats, "air.position"},
    {"point_size", Stage::vertex, true, Types::one_float, "air.point_size"},
    {"clip_distance", Stage::vertex, true, Types::floats, "air.clip_distance"},
    {"render_target_array_index", Stage::vertex, true, Types::whole, "air.render_target_array_index"},
    {"viewport_array_index", Stage::vertex, true, Types::whole, "air.viewport_array_index"},
    {"primitive_id", Stage::mesh, true, Types::whole, "air.primitive_id"},
    {"render_target_array_index", Stage::mesh, true, Types::whole, "air.render_target_array_index"},
    {"viewport_array_index", Stage::mesh, true, Types::whole, "air.viewport_array_index"},
    {"primitive_culled", Stage::mesh, true, Types::truth, "air.primitive_culled"},
    {"position", Stage::fragment, false, Types::four_floats, "air.position"},
    {"front_facing", Stage::fragment, false, Types::truth, "air.front_facing"},
    {"point_coord", Stage::fragment, false, Types::two_floats, "air.point_coord"},
    {"primitive_id", Stage::fragment, false, Types::whole, "air.primitive_id"},
    {"sample_id", Stage::fragment, false, Types::whole, "air.sample_id"},
    {"sample_mask", Stage::fragment, false, Types::whole, "air.sample_mask_in"},
    {"render_target_array_index", Stage::fragment, false, Types::whole, "air.render_target_array_index"},
    {"viewport_array_index", Stage::fragment, false, Types::whole, "air.viewport_array_index"},
    {"amplification_id", Stage::fragment, false, Types::whole, "air.amplification_id"},
    {"barycentric_coord", Stage::fragment, false, Types::three_floats, "air.barycentric_coord"},
    {"color", Stage::fragment, false, Types::any, "air.render_target"},
    {"color", Stage::fragment, true, Types::any, "air.render_target"},
    {"depth", Stage::fragment, true, Types::one_float, "air.depth"},
    {"stencil", Stage::fragment, true, Types::whole, "air.stencil"},
    {"sample_mask", Stage::fragment, true, Types::whole, "air.sample_mask"},
    {"origin", Stage::intersection, false, Types::vector, "air.origin"},
    {"direction", Stage::intersection, false, Types::vector, "air.direction"},
    {"world_space_origin", Stage::intersection, false, Types::vector, "air.world_space_origin"},
    {"world_space_direction", Stage::intersection, false, Types::vector, "air.world_space_direction"},
    {"min_distance", Stage::intersection, false, Types::one_float, "air.min_distance"},
    {"max_distance", Stage::intersection, false, Types::one_float, "air.max_distance"},
    {"distance", Stage::intersection, false, Types::one_float, "air.distance"},
    {"primitive_id", Stage::intersection, false, Types::whole, "air.primitive_id"},
    {"geometry_id", Stage::intersection, false, Types::whole, "air.geometry_id"},
    {"instance_id", Stage::intersection, false, Types::whole, "air.instance_id"},
    {"user_instance_id", Stage::intersection, false, Types::whole, "air.user_instance_id"},
    {"barycentric_coord", Stage::intersection, false, Types::two_floats, "air.barycentric_coord"},
    {"front_facing", Stage::intersection, false, Types::truth, "air.front_facing"},
    {"opaque_primitive", Stage::intersection, false, Types::truth, "air.opaque_primitive"},
    {"geometry_intersection_function_table_offset", Stage::intersection, false, Types::whole,
     "air.geometry_intersection_function_table_offset"},
    {"instance_intersection_function_table_offset", Stage::intersection, false, Types::whole,
     "air.instance_intersection_function_table_offset"},
    {"accept_intersection", Stage::intersection, true, Types::truth, "air.accept_intersection"},
    {"continue_search", Stage::intersection, true, Types::truth, "air.continue_search"},
    {"distance", Stage::intersection, true, Types::one_float, "air.distance"},
};

struct Interpolation {
  llvm::StringLiteral attribute;
  std::string_view where, how;
};
constexpr Interpolation kInterpolations[] = {
    {"flat", "air.flat", ""},
    {"center_perspective", "air.center", "air.perspective"},
    {"center_no_perspective", "air.center", "air.no_perspective"},
    {"centroid_perspective", "air.centroid", "air.perspective"},
    {"centroid_no_perspective", "air.centroid", "air.no_perspective"},
    {"sample_perspective", "air.sample", "air.perspective"},
    {"sample_no_perspective", "air.sample", "air.no_perspective"},
};

/// What is of a patch alone.
constexpr llvm::StringLiteral kOfPatch[] = {"patch_id", "position_in_patch"};
constexpr int64_t kMostControlPoints = 32;

constexpr int64_t kMostColours = 8;
constexpr int64_t kMostAttributes = 31;
constexpr unsigned kMostClipDistances = 8;

bool fits(Types types, const ValueShape& shape, std::string_view type_name) {
  const bool is_float = shape.is_float && shape.bits == 32 && shape.count == 0;
  switch (types) {
    case Types::whole:
      return shape.lanes == 1 && shape.count == 0 && (type_name == "uint" || type_name == "ushort");
    case Types::truth:
      return shape.bits == 1 && shape.lanes == 1 && shape.count == 0;
    case Types::one_float:
      return is_float && shape.lanes == 1;
    case Types::two_floats:
      return is_float && shape.lanes == 2;
    case Types::three_floats:
      return is_float && shape.lanes <= 3;
    case Types::vector:
      return is_float && shape.lanes == 3;
    case Types::four_floats:
      return is_float && shape.lanes == 4;
    case Types::floats:
      return shape.is_float && shape.bits == 32 && shape.lanes == 1;
    case Types::place:
      return is_float && (shape.lanes == 2 || shape.lanes == 3);
    case Types::any:
      return shape.bits != 1 && shape.count == 0;
  }
  return false;
}

/// Kinds of which a function has several: how many of a value's words must be its own.
constexpr std::pair<std::string_view, size_t> kIdentities[] = {
    {"air.render_target", 3}, {"air.vertex_input", 4},   {"air.patch_input", 4}, {"air.stage_in", 4},
    {"air.vertex_output", 2}, {"air.fragment_input", 2}, {kImageblockKind, 2},
};

std::string identity(const std::vector<std::string>& words) {
  size_t count = 1;
  for (const auto& [kind, own] : kIdentities)
    if (words[0] == kind) count = own;
  return fmt::format("{}", fmt::join(std::span(words).first(std::min(count, words.size())), " "));
}

}  // namespace

std::optional<ValueShape> shape_of(clang::QualType type, bool with_64_bits) {
  ValueShape shape;
  clang::QualType element = type.getCanonicalType();
  if (const VectorShape vector = vector_shape(type); vector.lanes != 0) {
    element = vector.element.getCanonicalType();
    shape.lanes = vector.lanes;
  }
  const auto* builtin = element->getAs<clang::BuiltinType>();
  if (builtin == nullptr) return std::nullopt;
  switch (builtin->getKind()) {
    case clang::BuiltinType::Bool:
      shape.bits = 1;
      return shape;
    case clang::BuiltinType::Char_S:
    case clang::BuiltinType::SChar:
    case clang::BuiltinType::Char_U:
    case clang::BuiltinType::UChar:
      shape.bits = 8;
      return shape;
    case clang::BuiltinType::Short:
    case clang::BuiltinType::UShort:
      shape.bits = 16;
      return shape;
    case clang::BuiltinType::Int:
    case clang::BuiltinType::UInt:
      return shape;
    case clang::BuiltinType::Half:
    case clang::BuiltinType::Float16:
      shape.bits = 16;
      shape.is_float = true;
      return shape;
    case clang::BuiltinType::Float:
      shape.is_float = true;
      return shape;
    case clang::BuiltinType::Long:
    case clang::BuiltinType::ULong:
      shape.bits = 64;
      return with_64_bits ? std::optional(shape) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::string mangled(std::string_view type_name, const ValueShape& shape) {
  constexpr std::pair<std::string_view, std::string_view> kLetters[] = {
      {"bool", "b"}, {"char", "c"}, {"uchar", "h"}, {"short", "s"}, {"ushort", "t"},
      {"int", "i"},  {"uint", "j"}, {"half", "Dh"}, {"float", "f"}};
  if (shape.lanes > 1) type_name.remove_suffix(1);
  std::string_view letter;
  for (const auto& [name, one] : kLetters)
    if (name == type_name) letter = one;
  return shape.lanes > 1 ? fmt::format("Dv{}_{}", shape.lanes, letter) : std::string(letter);
}

const clang::CXXRecordDecl* structure_of(clang::QualType type) {
  const auto* record = type->getAsCXXRecordDecl();
  return record != nullptr && !is_library(*record) && !record->isUnion() ? record : nullptr;
}

/// interpolant<T, p>: T, and "perspective" or "no_perspective". Nothing: another type.
struct Interpolant {
  clang::QualType value;
  std::string_view how;
};
Interpolant interpolant_of(clang::QualType type) {
  const auto* special = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl());
  if (special == nullptr || !is_library(*special) || special->getName() != "interpolant") return {};
  return {special->getTemplateArgs()[0].getAsType(),
          special->getTemplateArgs()[1].getAsIntegral().isZero() ? "perspective" : "no_perspective"};
}

std::optional<Stage> stage_of(const clang::FunctionDecl& function) {
  for (const Stage stage : {Stage::vertex, Stage::fragment, Stage::kernel, Stage::mesh, Stage::object, Stage::visible,
                            Stage::intersection}) {
    const std::string_view word = stage_word(stage);
    if (find_annotation(function, {word.data(), word.size()}) != nullptr) return stage;
  }
  if (find_annotation(function, kStitchable) != nullptr) return Stage::visible;
  return std::nullopt;
}

template <class... Args>
bool StageReader::refuse(clang::SourceLocation at, std::string_view format, const Args&... args) {
  report_error(sema_, at, fmt::vformat(format, fmt::make_format_args(args...)));
  return false;
}

bool StageReader::read_input(const clang::ParmVarDecl& parameter, unsigned source) {
  for (const llvm::StringRef word : kOfPatch)
    if (find_annotation(parameter, word) != nullptr && fact_.extra.empty()) {
      refuse(parameter.getLocation(), "'{}' attribute needs a vertex function with [[patch(...)]]", word.str());
      return true;
    }
  if (refuse_imageblock_data(parameter)) return true;
  // What a fragment function reads of its render targets needs no attribute of its own.
  const clang::CXXRecordDecl* const record = structure_of(parameter.getType());
  const bool has_colours = fact_.stage == Stage::fragment && record != nullptr &&
                           llvm::any_of(record->fields(), [](const clang::FieldDecl* one) {
                             return find_annotation(*one, "color") != nullptr;
                           });
  const bool is_stage_in = has_colours || find_annotation(parameter, "stage_in") != nullptr;
  if (!is_stage_in && std::none_of(std::begin(kUses), std::end(kUses), [&](const AttributeUse& use) {
        return find_annotation(parameter, use.attribute) != nullptr && find_annotation(parameter, "id") == nullptr;
      }))
    return false;
  const clang::QualType type = parameter.getType();
  if (const auto point = control_point(type)) {
    read_control_points(*point, {&parameter, type, parameter.getNameAsString(), std::nullopt, source, false});
    return true;
  }
  if (record == nullptr || !is_stage_in) {
    read_value({&parameter, type, parameter.getNameAsString(), std::nullopt, source, false}, Direction::input);
    return true;
  }
  if (sema_.isCompleteType(parameter.getLocation(), type)) read_members(*record, 0, Direction::input, source);
  return true;
}

/// [[intersection(bounding_box, triangle_data, instancing)]]: a kind of primitive, and tags in AIR's order.
void StageReader::read_intersection(const clang::FunctionDecl& function) {
  const clang::AnnotateAttr* of = find_annotation(function, "intersection");
  if (of == nullptr || fact_.stage != Stage::intersection) return;
  constexpr llvm::StringLiteral kKinds[] = {"bounding_box", "triangle", "curve"};
  const std::string words = text_of(*of);
  llvm::SmallVector<llvm::StringRef, 8> given;
  llvm::StringRef(words).split(given, ',');
  for (llvm::StringRef& word : given) {
    word.consume_front("metal::");
    word.consume_front("raytracing::");
  }
  if (given.empty() || !llvm::is_contained(kKinds, given[0])) {
    refuse(of->getLocation(), "'intersection' attribute requires bounding_box, triangle or curve, and tags");
    return;
  }
  fact_.extra = {"air." + given[0].str()};
  for (const llvm::StringRef tag : llvm::ArrayRef(given).drop_front())
    if (!llvm::is_contained(kIntersectionTags, tag)) {
      refuse(of->getLocation(), "'{}': this tag of an intersection function is not supported", tag.str());
      return;
    }
  for (const llvm::StringRef tag : kIntersectionTags)
    if (llvm::is_contained(llvm::ArrayRef(given).drop_front(), tag)) fact_.extra.push_back("air." + tag.str());
}

/// [[patch(quad, 16)]]: what SPIRV-Cross writes when it does not know how many there are is 0.
void StageReader::read_patch(const clang::FunctionDecl& function) {
  const clang::AnnotateAttr* patch = find_annotation(function, "patch");
  if (patch == nullptr) return;
  const std::string domain = text_of(*patch);
  if (fact_.stage != Stage::vertex) {
    refuse(patch->getLocation(), "'patch' attribute only goes on a vertex function");
    return;
  }
  if (domain != "quad" && domain != "triangle") {
    refuse(patch->getLocation(), "'patch' attribute requires 'quad' or 'triangle'");
    return;
  }
  fact_.extra = {"air.patch", domain};
  if (patch->args_size() < 2) return;
  clang::Expr::EvalResult count;
  const clang::Expr* value = *(patch->args_begin() + 1);
  if (value->isValueDependent() || !value->EvaluateAsInt(count, sema_.getASTContext()) ||
      count.Val.getInt().isNegative() || count.Val.getInt() > kMostControlPoints) {
    refuse(patch->getLocation(), "'patch' attribute requires 0 to {} control points", kMostControlPoints);
    return;
  }
  fact_.extra.insert(fact_.extra.end(),
                     {"air.patch_control_point", fmt::format("#{}", count.Val.getInt().getLimitedValue())});
}

std::optional<clang::QualType> StageReader::control_point(clang::QualType type) const {
  const auto* special = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl());
  if (special == nullptr || !is_library(*special) || special->getName() != "patch_control_point") return std::nullopt;
  return special->getTemplateArgs()[0].getAsType();
}

/// One parameter: AIR's object, of which a function reads a point by its number.
void StageReader::read_control_points(clang::QualType point, const Place& place) {
  const clang::SourceLocation at = place.decl->getLocation();
  const clang::CXXRecordDecl* const record = structure_of(point);
  if (fact_.extra.empty()) {
    refuse(at, "'{}': control points need a vertex function with [[patch(...)]]", place.name);
    return;
  }
  if (record == nullptr || !sema_.isCompleteType(at, point)) {
    refuse(at, "'{}': a control point must be a structure", place.name);
    return;
  }
  for (const ParameterFact& other : fact_.parameters)
    if (!other.members.empty()) {
      refuse(at, "'{}': '{}' has the control points already", place.name, other.name);
      return;
    }
  // The attributes are read as those of a vertex, and become members of one parameter.
  KernelFact inside;
  inside.stage = Stage::vertex;
  StageReader(sema_, inside).read_members(*record, 0, Direction::input, 0);
  std::string symbol;
  llvm::SmallVector<llvm::StringRef, 4> parts;
  const std::string qualified = record->getQualifiedNameAsString();
  llvm::StringRef(qualified).split(parts, "::");
  for (const llvm::StringRef part : parts) symbol += fmt::format("{}{}", part.size(), part.str());
  if (parts.size() > 1) symbol = fmt::format("N{}E", symbol);
  ParameterFact fact;
  fact.binding = std::nullopt;
  fact.name = place.name;
  fact.source = place.source;
  fact.offset = place.offset;
  fact.value.space = 0;
  fact.words = {"air.patch_control_point_input", "(", "air.patch_control_point_function",
                fmt::format("@_Z{}{}", symbol, std::string_view(kernel_ir::kControlPointSuffix)), ")"};
  for (ParameterFact& member : inside.parameters)
    fact.members.push_back({{member.words.begin() + 1, member.words.end()},
                            member.name,
                            member.type_name,
                            member.condition,
                            member.value,
                            member.offset});
  fact_.parameters.push_back(std::move(fact));
}

bool StageReader::refuse_imageblock_data(const clang::Decl& decl) {
  const clang::AnnotateAttr* const data = find_annotation(decl, "imageblock_data");
  if (data == nullptr) return false;
  refuse(data->getLocation(), "'imageblock_data': imageblocks of {} functions are not supported",
         stage_word(fact_.stage));
  return true;
}

void StageReader::read_results(const clang::FunctionDecl& function) {
  read_given(function.getReturnType(), function);
  check_twice(function);
}

void StageReader::read_given(clang::QualType type, const clang::Decl& at) {
  if (const clang::CXXRecordDecl* const record = structure_of(type))
    read_members(*record, 0, Direction::result, 0);
  else if (!type->isVoidType())
    read_value({&at, type, "", std::nullopt, 0, false}, Direction::result);
}

void StageReader::read_members(const clang::CXXRecordDecl& record, uint64_t offset, Direction direction,
                               unsigned source) {
  const clang::ASTContext& context = sema_.getASTContext();
  if (record.isInvalidDecl() || !record.hasDefinition() || record.isDependentType()) return;
  const clang::ASTRecordLayout& layout = context.getASTRecordLayout(&record);
  for (const clang::CXXBaseSpecifier& base : record.bases())
    if (const auto* inner = base.getType()->getAsCXXRecordDecl())
      read_members(*inner, offset + static_cast<uint64_t>(layout.getBaseClassOffset(inner).getQuantity()), direction,
                   source);
  for (const clang::FieldDecl* field : record.fields()) {
    if (refuse_imageblock_data(*field)) return;
    const uint64_t at = offset + layout.getFieldOffset(field->getFieldIndex()) / 8;
    if (const clang::CXXRecordDecl* const inner = structure_of(field->getType()))
      read_members(*inner, at, direction, source);
    else if (const auto point = control_point(field->getType()); point && direction == Direction::input)
      read_control_points(*point, {field, field->getType(), field->getNameAsString(), at, source, true});
    else
      read_value({field, field->getType(), field->getNameAsString(), at, source, true}, direction);
  }
}

void StageReader::read_value(const Place& place, Direction direction) {
  const clang::ASTContext& context = sema_.getASTContext();
  clang::QualType type = place.type;
  unsigned count = 0;
  if (const auto* array = context.getAsConstantArrayType(type)) {
    count = static_cast<unsigned>(array->getSize().getLimitedValue(UINT32_MAX));
    type = array->getElementType();
  }
  const Interpolant interpolant = interpolant_of(type);
  if (!interpolant.how.empty()) type = interpolant.value;
  std::optional<ValueShape> shape = shape_of(type);
  const std::string type_name = metal_name(type, context);
  if (!shape || (count != 0 && find_annotation(*place.decl, "clip_distance") == nullptr)) {
    refuse(place.decl->getLocation(),
           direction == Direction::result ? "invalid type '{}' for output declaration in a {} function"
                                          : "invalid type '{}' for input declaration in a {} function",
           count != 0 ? fmt::format("{} [{}]", type_name, count) : type_name, stage_word(fact_.stage));
    return;
  }
  shape->count = count;
  shape->is_interpolant = !interpolant.how.empty();
  std::vector<std::string> words;
  if (shape->is_interpolant) {
    if (direction == Direction::result || fact_.stage != Stage::fragment || !shape->is_float || count != 0) {
      refuse(place.decl->getLocation(), "invalid type 'interpolant<{}, {}>' for {} declaration in a {} function",
             type_name, interpolant.how, direction == Direction::result ? "output" : "input", stage_word(fact_.stage));
      return;
    }
    const clang::AnnotateAttr* user = find_annotation(*place.decl, "user");
    words = {"air.fragment_input",
             user != nullptr
                 ? fmt::format("user({})", text_of(*user))
                 : fmt::format("generated({}{}{})", place.name.size(), place.name, mangled(type_name, *shape)),
             std::string(air::kInterpolantWord), fmt::format("air.{}", interpolant.how)};
  } else if (!read_words(place, direction, *shape, words)) {
    return;
  }
  std::string condition;
  if (const clang::AnnotateAttr* attribute = find_annotation(*place.decl, "function_constant"))
    condition = text_of(*attribute);
  if (direction == Direction::result) {
    fact_.results.push_back({std::move(words), place.name, type_name, std::move(condition), *shape, place.offset});
    return;
  }
  ParameterFact fact;
  fact.binding = std::nullopt;
  fact.name = place.name;
  fact.type_name = type_name;
  fact.condition = std::move(condition);
  fact.value = *shape;
  fact.source = place.source;
  fact.offset = place.offset;
  fact.words = std::move(words);
  fact_.parameters.push_back(std::move(fact));
}

bool StageReader::read_words(const Place& place, Direction direction, const ValueShape& shape,
                             std::vector<std::string>& words) {
  const clang::Decl& decl = *place.decl;
  const clang::ASTContext& context = sema_.getASTContext();
  const bool is_result = direction == Direction::result;
  const AttributeUse* use = nullptr;
  const clang::AnnotateAttr* attribute = nullptr;
  for (const AttributeUse& one : kUses)
    if (one.stage == fact_.stage && one.is_result == is_result)
      if (const clang::AnnotateAttr* found = find_annotation(decl, one.attribute)) use = &one, attribute = found;
  if (use == nullptr) return user_words(place, direction, shape, words);
  clang::QualType type = place.type;
  const std::string type_name =
      metal_name(shape.count != 0 ? context.getAsConstantArrayType(type)->getElementType() : type, context);
  if (!fits(use->types, shape, type_name))
    return refuse(decl.getLocation(), "type '{}' is not valid for attribute '{}': it must be {}", type_name,
                  use->attribute.str(), words_for(use->types));
  // What a patch brings along is read from where its control points are not.
  const bool is_of_patch = use->attribute == "attribute" && !fact_.extra.empty();
  words.emplace_back(is_of_patch ? "air.patch_input" : use->kind);
  const auto index = [&](const clang::AnnotateAttr& of, int64_t most) -> bool {
    const auto number = number_of(of, context);
    if (!number || *number < 0 || *number >= most)
      return refuse(of.getLocation(), "'{}' attribute parameter is out of bounds: must be between 0 and {}",
                    metal_attribute(of).str(), most - 1);
    words.push_back(fmt::format("#{}", *number));
    return true;
  };
  const std::string name = use->attribute.str();
  if (name == "position_in_patch" && (shape.lanes == 3) != (fact_.extra.size() > 1 && fact_.extra[1] == "triangle"))
    return refuse(decl.getLocation(), "type '{}' is not valid for attribute 'position_in_patch' of a {}", type_name,
                  fact_.extra.size() > 1 ? fact_.extra[1] : "vertex");
  if (name == "attribute") {
    words.emplace_back("air.location_index");
    if (!index(*attribute, kMostAttributes)) return false;
    words.emplace_back("#1");
  } else if (name == "color") {
    if (!index(*attribute, kMostColours)) return false;
    if (!is_result) {
      if (const clang::AnnotateAttr* group = find_annotation(decl, "raster_order_group")) {
        words.emplace_back("air.raster_order_group");
        return index(*group, 8);
      }
      return true;
    }
    if (const clang::AnnotateAttr* second = find_annotation(decl, "index")) return index(*second, 2);
    words.emplace_back("#0");
  } else if (name == "depth") {
    const std::string how = text_of(*attribute);
    if (how != "any" && how != "greater" && how != "less")
      return refuse(attribute->getLocation(), "'depth' attribute requires 'any', 'greater' or 'less'");
    words.emplace_back("air.depth_qualifier");
    words.push_back("air." + how);
  } else if (name == "position" && is_result) {
    if (find_annotation(decl, "invariant") != nullptr) words.emplace_back("air.invariant");
  } else if (name == "position") {
    return add_interpolation(place, false, "center_no_perspective", words);
  } else if (name == "barycentric_coord" && fact_.stage == Stage::fragment) {
    return add_interpolation(place, false, "center_perspective", words);
  } else if (name == "clip_distance") {
    if (shape.count > kMostClipDistances)
      return refuse(decl.getLocation(), "there are {} clip distances at most", kMostClipDistances);
    words.emplace_back("air.clip_distance_array_size");
    words.push_back(fmt::format("#{}", std::max(shape.count, 1u)));
  } else if (name == "sample_mask" && !is_result && find_annotation(decl, "post_depth_coverage") != nullptr) {
    words.emplace_back("air.post_depth_coverage");
  }
  return true;
}

/// A value that the stages name themselves; or what a function returns that is no structure.
bool StageReader::user_words(const Place& place, Direction direction, const ValueShape& shape,
                             std::vector<std::string>& words) {
  const clang::SourceLocation at = place.decl->getLocation();
  const clang::ASTContext& context = sema_.getASTContext();
  const std::string type_name = metal_name(place.type, context);
  const bool is_result = direction == Direction::result;
  if (fact_.stage == Stage::intersection) {
    // A result that is not a structure says whether the intersection counts.
    words = {"air.accept_intersection"};
    if (is_result && !place.is_member && fits(Types::truth, shape, type_name)) return true;
    return refuse(at, "{} of an intersection function '{}' needs an attribute: {}",
                  is_result ? "the result" : "the value", is_result && !place.is_member ? type_name : place.name,
                  is_result ? "accept_intersection, continue_search or distance" : "origin, direction or another");
  }
  if (is_result && !place.is_member) {
    const bool is_vertex = fact_.stage == Stage::vertex;
    if (!fits(is_vertex ? Types::four_floats : Types::any, shape, type_name))
      return refuse(at, "invalid return type '{}' for {} function", type_name, stage_word(fact_.stage));
    words = is_vertex ? std::vector<std::string>{"air.position"}
                      : std::vector<std::string>{"air.render_target", "#0", "#0"};
    return true;
  }
  if (fact_.stage == Stage::fragment && is_result)
    return refuse(at,
                  "invalid return type for fragment function: member '{}' needs an attribute: color(n), depth(any), "
                  "stencil or sample_mask",
                  place.name);
  if (fact_.stage != Stage::fragment && !is_result)
    return refuse(at, "invalid input declaration in a {} function: '{}' needs an attribute(n)", stage_word(fact_.stage),
                  place.name);
  // Of truth values the stages hand on single ones.
  const bool is_truth = shape.bits == 1 && shape.lanes == 1 && shape.count == 0;
  if (!fits(Types::any, shape, type_name) && !is_truth)
    return refuse(at,
                  is_result ? "invalid type '{}' for output declaration in a {} function"
                            : "invalid type '{}' for input declaration in a {} function",
                  shape.count != 0 ? type_name + "[]" : type_name, stage_word(fact_.stage));
  const clang::AnnotateAttr* user = find_annotation(*place.decl, "user");
  const std::string name =
      user != nullptr ? fmt::format("user({})", text_of(*user))
                      : fmt::format("generated({}{}{})", place.name.size(), place.name, mangled(type_name, shape));
  words = {is_result ? "air.vertex_output" : "air.fragment_input", name};
  return is_result || add_interpolation(place, !shape.is_float, "center_perspective", words);
}

/// Integers are never interpolated.
bool StageReader::add_interpolation(const Place& place, bool is_whole, std::string_view otherwise,
                                    std::vector<std::string>& words) {
  const Interpolation* chosen = nullptr;
  for (const Interpolation& one : kInterpolations) {
    const clang::AnnotateAttr* attribute = find_annotation(*place.decl, one.attribute);
    if (attribute == nullptr) continue;
    if (chosen != nullptr)
      return refuse(attribute->getLocation(), "'{}' and '{}' attributes are not compatible", chosen->attribute.str(),
                    one.attribute.str());
    if (is_whole && one.attribute != "flat")
      return refuse(attribute->getLocation(), "'{}' attribute does not apply to an integer, which is always 'flat'",
                    one.attribute.str());
    chosen = &one;
  }
  if (chosen == nullptr)
    chosen = std::ranges::find(kInterpolations, is_whole ? "flat" : otherwise,
                               [](const Interpolation& one) -> std::string_view { return one.attribute; });
  words.emplace_back(chosen->where);
  if (!chosen->how.empty()) words.emplace_back(chosen->how);
  return true;
}

void StageReader::check_twice(const clang::FunctionDecl& function) {
  std::set<std::string> seen;
  for (const ResultFact& result : fact_.results)
    if (result.condition.empty() && !seen.insert(identity(result.words)).second)
      refuse(function.getLocation(), "'{}' returns '{}' at a place that another member has already",
             function.getNameAsString(), result.name);
  seen.clear();
  for (const ParameterFact& parameter : fact_.parameters)
    if (!parameter.words.empty() && parameter.condition.empty() && !seen.insert(identity(parameter.words)).second)
      refuse(function.getLocation(), "'{}' takes '{}' from a place that another input has already",
             function.getNameAsString(), parameter.name);
}

}  // namespace smelt::aot::msl
