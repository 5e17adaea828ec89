// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ops/row_signature.hpp"

#include <algorithm>

namespace smelt::aot::air {
namespace {

bool any_of_bits(const AirType& type, std::initializer_list<unsigned> bits) {
  return std::find(bits.begin(), bits.end(), type.bits) != bits.end();
}

bool is_real(const AirType& type) {
  return type.kind == AirType::Kind::half || type.kind == AirType::Kind::single;
}

/// One type, with .s or .u in front where `signs` wants one of its letters.
std::optional<AirType> one_type(const NameParts& parts, std::string_view signs) {
  const size_t wanted = signs.empty() ? 1 : 2;
  if (parts.size() != wanted) return std::nullopt;
  if (!signs.empty() && (parts[0].size() != 1 || signs.find(parts[0]) == std::string_view::npos)) return std::nullopt;
  auto type = parse_air_type(parts.back());
  if (!type || type->is_pointer()) return std::nullopt;
  return type;
}

std::optional<SuffixTypes> bind_one(const NameParts& parts, std::string_view signs, bool (*allowed)(const AirType&)) {
  const auto type = one_type(parts, signs);
  if (!type || !allowed(*type)) return std::nullopt;
  return SuffixTypes{.t = *type};
}

bool small(const AirType& type) {
  return type.lanes <= 4;
}
bool whole_integer(const AirType& type) {
  return type.is_integer() && type.bits >= 8 && small(type);
}
bool i32_or_vector(const AirType& type) {
  return type.is_integer() && type.bits == 32 && small(type);
}
bool real(const AirType& type) {
  return is_real(type) && small(type);
}
template <unsigned kLanes>
bool real_of(const AirType& type) {
  return is_real(type) && type.lanes == kLanes;
}
bool real_vector(const AirType& type) {
  return real(type) && type.lanes > 1;
}
bool scalar_i32(const AirType& type) {
  return type.is_integer() && type.bits == 32 && type.lanes == 1;
}
bool scalar_i64(const AirType& type) {
  return type.is_integer() && type.bits == 64 && type.lanes == 1;
}
bool scalar_f32(const AirType& type) {
  return type.kind == AirType::Kind::single && type.lanes == 1;
}
bool truth(const AirType& type) {
  return type.is_integer() && type.bits == 1 && type.lanes >= 2 && small(type);
}
bool lane_integer(const AirType& type) {
  return type.is_integer() && any_of_bits(type, {8, 16, 32}) && small(type);
}
bool texel_real(const AirType& type) {
  return is_real(type) && type.lanes == 4;
}
bool texel_integer(const AirType& type) {
  return type.is_integer() && any_of_bits(type, {16, 32}) && type.lanes == 4;
}

bool convertible(std::string_view kind, const AirType& type) {
  if (!small(type)) return false;
  if (kind == "f") return type.is_float();
  return (kind == "s" || kind == "u") && type.is_integer();
}

std::optional<SuffixTypes> bind_convert(NameParts parts) {
  if (!parts.empty() && parts.back() == "sat") parts.pop_back();
  if (parts.size() == 5) {
    constexpr std::string_view kRoundings[] = {"rte", "rtz", "rtp", "rtn"};
    if (std::find(std::begin(kRoundings), std::end(kRoundings), parts[4]) == std::end(kRoundings)) return std::nullopt;
    parts.pop_back();
  }
  if (parts.size() != 4) return std::nullopt;
  const auto to = parse_air_type(parts[1]);
  const auto from = parse_air_type(parts[3]);
  if (!to || !from || to->is_pointer() || from->is_pointer() || to->lanes != from->lanes) return std::nullopt;
  if (!convertible(parts[0], *to) || !convertible(parts[2], *from)) return std::nullopt;
  return SuffixTypes{.a = *from, .d = *to};
}

bool is_matrix(const std::optional<AirType>& type) {
  return type && !type->is_pointer() && type->lanes == 64 && type->is_float();
}

std::optional<SuffixTypes> bind_matrix_memory(const NameParts& parts) {
  if (parts.size() != 2) return std::nullopt;
  const auto matrix = parse_air_type(parts[0]);
  const auto pointer = parse_air_type(parts[1]);
  if (!is_matrix(matrix) || !pointer || !pointer->is_pointer()) return std::nullopt;
  if (matrix->lane().pointer_in(pointer->space) != *pointer) return std::nullopt;
  if (pointer->space != 1 && pointer->space != 3) return std::nullopt;
  return SuffixTypes{.t = *matrix, .space = pointer->space};
}

std::optional<SuffixTypes> bind_matrix_product(const NameParts& parts) {
  if (parts.size() != 4) return std::nullopt;
  std::optional<AirType> types[4];
  for (size_t i = 0; i < 4; ++i)
    if (types[i] = parse_air_type(parts[i]); !is_matrix(types[i])) return std::nullopt;
  return SuffixTypes{.a = *types[1], .b = *types[2], .c = *types[3], .d = *types[0]};
}

std::optional<SuffixTypes> bind_matrix_fill(const NameParts& parts) {
  if (parts.size() != 2) return std::nullopt;
  const auto matrix = parse_air_type(parts[0]);
  if (!is_matrix(matrix) || parse_air_type(parts[1]) != matrix->lane()) return std::nullopt;
  return SuffixTypes{.t = *matrix};
}

std::optional<SuffixTypes> bind_async_copy(const NameParts& parts) {
  if (parts.size() != 2) return std::nullopt;
  const auto to = parse_air_type(parts[0]);
  const auto from = parse_air_type(parts[1]);
  if (!to || !from || !to->is_pointer() || !from->is_pointer() || to->bits != 8 || from->bits != 8) return std::nullopt;
  if (to->space + from->space != 4 || (to->space != 1 && to->space != 3)) return std::nullopt;
  return SuffixTypes{.a = *to, .b = *from};
}

/// A pointer to device or constant memory for each list of widths, whose integers it may point to.
std::optional<SuffixTypes> bind_pointers(const NameParts& parts,
                                         std::initializer_list<std::initializer_list<unsigned>> widths) {
  if (parts.size() != widths.size()) return std::nullopt;
  SuffixTypes binding;
  AirType* const places[] = {&binding.a, &binding.b, &binding.c};
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto type = parse_air_type(parts[i]);
    if (!type || !type->is_pointer() || (type->space != 1 && type->space != 2)) return std::nullopt;
    if (type->kind != AirType::Kind::integer || type->lanes > 1 || !any_of_bits(*type, widths.begin()[i]))
      return std::nullopt;
    *places[i] = *type;
  }
  return binding;
}

AirType handle(std::string_view name, uint8_t space) {
  return AirType{.kind = AirType::Kind::handle, .handle_name = name}.pointer_in(space);
}

AirType read_type(std::string_view text, const SuffixTypes& binding) {
  const AirType i32{.kind = AirType::Kind::integer, .bits = 32};
  if (text == "void" || text == "any") return {};
  if (text == "T") return binding.t;
  if (text == "E") return binding.t.lane();
  if (text == "K") return i32.with_lanes(binding.t.lanes);
  if (text == "pT") return binding.t.pointer_in(binding.space);
  if (text == "pE") return binding.t.lane().pointer_in(binding.space);
  if (text == "p0T") return binding.t.pointer_in(0);
  if (text == "p0K") return i32.with_lanes(binding.t.lanes).pointer_in(0);
  if (text == "p4T") return binding.t.pointer_in(4);
  if (text == "A") return binding.a;
  if (text == "B") return binding.b;
  if (text == "C") return binding.c;
  if (text == "D") return binding.d;
  if (text == "texture") return handle(binding.handle, 1);
  if (text == "sampler") return handle("sampler", 2);
  if (text == "interpolant") return handle("interpolant", 1);
  if (text == "table") return handle("visible_function_table", 1);
  if (text == "intersections") return handle("intersection_function_table", 1);
  if (text == "query") return handle("intersection_query", 0);
  if (text == "instances" || (text == "structure" && binding.instancing))
    return handle("instance_acceleration_structure", 1);
  if (text == "primitives" || text == "structure") return handle("primitive_acceleration_structure", 1);
  if (text == "commands") return handle("command_buffer", 1);
  if (text == "render_state") return handle("render_pipeline_state", 1);
  if (text == "compute_state") return handle("compute_pipeline_state", 1);
  if (text == "depth_state") return handle("depth_stencil_state", 1);
  if (text == "mesh") return handle("mesh", 7);
  if (text == "grid") return handle("mesh_grid_properties", 3);
  if (text == "tensor") return handle("tensor", 0);
  if (text == "event") return handle("simdgroup_event", 0);
  if (text == "events") return handle("simdgroup_event", 0).pointer_in(0);
  if (text.starts_with('{')) {
    AirType answer = read_type(text.substr(1, text.size() - 2), binding);
    answer.with_residency = true;
    return answer;
  }
  return parse_air_type(text).value_or(AirType{});
}

}  // namespace

NameParts split_name(std::string_view text, char separator) {
  NameParts parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

SuffixTypes any_suffix_types(const NameParts& parts) {
  SuffixTypes binding;
  for (const std::string_view part : parts) {
    const auto type = parse_air_type(part);
    if (type && !type->is_pointer()) binding.t = *type;
    if (part == "instancing") binding.instancing = true;
  }
  return binding;
}

std::optional<SuffixTypes> suffix_types(Suffix suffix, const NameParts& parts) {
  switch (suffix) {
    case Suffix::none:
      return parts.empty() ? std::optional(SuffixTypes{}) : std::nullopt;
    case Suffix::real:
      return bind_one(parts, "", real);
    case Suffix::real_vector:
      return bind_one(parts, "", real_vector);
    case Suffix::real_v2:
      return bind_one(parts, "", real_of<2>);
    case Suffix::real_v3:
      return bind_one(parts, "", real_of<3>);
    case Suffix::real_v4:
      return bind_one(parts, "", real_of<4>);
    case Suffix::integer:
      return bind_one(parts, "", whole_integer);
    case Suffix::signed_integer:
      return bind_one(parts, "s", whole_integer);
    case Suffix::sign_integer:
      return bind_one(parts, "su", whole_integer);
    case Suffix::sign_i32:
      return bind_one(parts, "su", i32_or_vector);
    case Suffix::scalar_sign_i32:
      return bind_one(parts, "su", scalar_i32);
    case Suffix::scalar_i32:
      return bind_one(parts, "", scalar_i32);
    case Suffix::scalar_f32:
      return bind_one(parts, "", scalar_f32);
    case Suffix::scalar_u64:
      return bind_one(parts, "u", scalar_i64);
    case Suffix::truth:
      return bind_one(parts, "", truth);
    case Suffix::lane_value:
      if (auto bound = bind_one(parts, "", real)) return bound;
      return bind_one(parts, "su", lane_integer);
    case Suffix::lane_integer:
      return bind_one(parts, "su", lane_integer);
    case Suffix::texel:
      if (auto bound = bind_one(parts, "", texel_real)) return bound;
      return bind_one(parts, "su", texel_integer);
    case Suffix::texel_i32:
      return bind_one(parts, "su", [](const AirType& type) { return texel_integer(type) && type.bits == 32; });
    case Suffix::depth_texel:
      return bind_one(parts, "", scalar_f32);
    case Suffix::plane:
      if (auto bound = bind_one(parts, "", real)) return bound;
      return bind_one(parts, "", lane_integer);
    case Suffix::convert:
      return bind_convert(parts);
    case Suffix::matrix_memory:
      return bind_matrix_memory(parts);
    case Suffix::matrix_product:
      return bind_matrix_product(parts);
    case Suffix::matrix_fill:
      return bind_matrix_fill(parts);
    case Suffix::async_copy:
      return bind_async_copy(parts);
    case Suffix::bytes:
      return bind_pointers(parts, {{8}});
    case Suffix::indices:
      return bind_pointers(parts, {{16, 32}});
    case Suffix::patches:
      return bind_pointers(parts, {{32}, {8}});
    case Suffix::indexed_patches:
      return bind_pointers(parts, {{32}, {8}, {8}});
    case Suffix::any:
      return any_suffix_types(parts);
  }
  return std::nullopt;
}

Signature read_signature(const Row& row, const SuffixTypes& binding, std::string_view name) {
  Signature signature{.name = std::string(name),
                      .result = {},
                      .parameters = {},
                      .effect = row.effect,
                      .evidence = row.evidence,
                      .since = row.since,
                      .until = row.until,
                      .family_only = (row.variants & kOpen) != 0};
  const size_t open = row.signature.find('(');
  signature.result = read_type(row.signature.substr(0, open), binding);
  const std::string_view list = row.signature.substr(open + 1, row.signature.size() - open - 2);
  if (list.empty()) return signature;
  for (std::string_view text : split_name(list, ',')) {
    if (text == "...") break;
    if (text.ends_with("...")) text.remove_suffix(3);
    Parameter parameter;
    if (text.ends_with(":r")) parameter.access = Parameter::Access::reads;
    if (text.ends_with(":w")) parameter.access = Parameter::Access::writes;
    parameter.type = read_type(text.substr(0, text.find(':')), binding);
    signature.parameters.push_back(parameter);
  }
  return signature;
}

}  // namespace smelt::aot::air
