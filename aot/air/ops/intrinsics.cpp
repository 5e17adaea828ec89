// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a name becomes a signature: the longest row name that starts it, then the row's suffix grammar binds T (or D, A,
// B, C) to types, then the row's signature text is read with these bindings.
#include "ops/intrinsics.hpp"

#include "interface/limits.hpp"
#include "ops/intrinsics_table.hpp"

#include "llvm/IR/Attributes.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ModRef.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace smelt::aot::air {
namespace {

using Names = std::vector<std::string_view>;

Names split(std::string_view text, char separator) {
  Names parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// What the suffix of a name says.
struct Binding {
  AirType t, a, b, c, d;
  uint8_t space = 0;        ///< of pT and pE
  bool instancing = false;  ///< the name has this tag
  std::string_view handle;  ///< "texture_2d" of sample_texture_2d
};

bool any_of_bits(const AirType& type, std::initializer_list<unsigned> bits) {
  return std::find(bits.begin(), bits.end(), type.bits) != bits.end();
}

bool is_real(const AirType& type) {
  return type.kind == AirType::Kind::half || type.kind == AirType::Kind::single;
}

/// One type, with .s or .u in front where `signs` wants one of its letters.
std::optional<AirType> one_type(const Names& parts, std::string_view signs) {
  const size_t wanted = signs.empty() ? 1 : 2;
  if (parts.size() != wanted) return std::nullopt;
  if (!signs.empty() && (parts[0].size() != 1 || signs.find(parts[0]) == std::string_view::npos)) return std::nullopt;
  auto type = parse_air_type(parts.back());
  if (!type || type->is_pointer()) return std::nullopt;
  return type;
}

std::optional<Binding> bind_one(const Names& parts, std::string_view signs, bool (*allowed)(const AirType&)) {
  const auto type = one_type(parts, signs);
  if (!type || !allowed(*type)) return std::nullopt;
  return Binding{.t = *type};
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

std::optional<Binding> bind_convert(Names parts) {
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
  return Binding{.a = *from, .d = *to};
}

bool is_matrix(const std::optional<AirType>& type) {
  return type && !type->is_pointer() && type->lanes == 64 && type->is_float();
}

std::optional<Binding> bind_matrix_memory(const Names& parts) {
  if (parts.size() != 2) return std::nullopt;
  const auto matrix = parse_air_type(parts[0]);
  const auto pointer = parse_air_type(parts[1]);
  if (!is_matrix(matrix) || !pointer || !pointer->is_pointer()) return std::nullopt;
  if (matrix->lane().pointer_in(pointer->space) != *pointer) return std::nullopt;
  if (pointer->space != 1 && pointer->space != 3) return std::nullopt;
  return Binding{.t = *matrix, .space = pointer->space};
}

std::optional<Binding> bind_matrix_product(const Names& parts) {
  if (parts.size() != 4) return std::nullopt;
  std::optional<AirType> types[4];
  for (size_t i = 0; i < 4; ++i)
    if (types[i] = parse_air_type(parts[i]); !is_matrix(types[i])) return std::nullopt;
  return Binding{.a = *types[1], .b = *types[2], .c = *types[3], .d = *types[0]};
}

std::optional<Binding> bind_matrix_fill(const Names& parts) {
  if (parts.size() != 2) return std::nullopt;
  const auto matrix = parse_air_type(parts[0]);
  if (!is_matrix(matrix) || parse_air_type(parts[1]) != matrix->lane()) return std::nullopt;
  return Binding{.t = *matrix};
}

std::optional<Binding> bind_async_copy(const Names& parts) {
  if (parts.size() != 2) return std::nullopt;
  const auto to = parse_air_type(parts[0]);
  const auto from = parse_air_type(parts[1]);
  if (!to || !from || !to->is_pointer() || !from->is_pointer() || to->bits != 8 || from->bits != 8) return std::nullopt;
  if (to->space + from->space != 4 || (to->space != 1 && to->space != 3)) return std::nullopt;
  return Binding{.a = *to, .b = *from};
}

/// What can be read of a suffix that no row says.
Binding bind_any(const Names& parts) {
  Binding binding;
  for (const std::string_view part : parts) {
    const auto type = parse_air_type(part);
    if (type && !type->is_pointer()) binding.t = *type;
    if (part == "instancing") binding.instancing = true;
  }
  return binding;
}

std::optional<Binding> bind(Suffix suffix, const Names& parts) {
  switch (suffix) {
    case Suffix::none:
      return parts.empty() ? std::optional(Binding{}) : std::nullopt;
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
    case Suffix::any:
      return bind_any(parts);
  }
  return std::nullopt;
}

AirType handle(std::string_view name, uint8_t space) {
  return AirType{.kind = AirType::Kind::handle, .handle_name = name}.pointer_in(space);
}

AirType read_type(std::string_view text, const Binding& binding) {
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

Signature read_signature(const Row& row, const Binding& binding, std::string_view name) {
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
  for (std::string_view text : split(list, ',')) {
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

bool mentions_bfloat(const Signature& signature) {
  const auto is_bfloat = [](const AirType& type) { return type.kind == AirType::Kind::bfloat; };
  return is_bfloat(signature.result) || std::any_of(signature.parameters.begin(), signature.parameters.end(),
                                                    [&](const Parameter& p) { return is_bfloat(p.type); });
}

/// A name, taken back to the name of its row: which prefix was a variant, which space it says.
struct Spelling {
  std::string row_name;
  bool fast = false, quad = false;
  uint8_t space = 0;
};

std::vector<Spelling> spellings(std::string_view operation) {
  std::vector<Spelling> all = {{.row_name = std::string(operation)}};
  if (operation.starts_with("fast_")) all.push_back({.row_name = std::string(operation.substr(5)), .fast = true});
  if (operation.starts_with("quad_"))
    all.push_back({.row_name = fmt::format("simd_{}", operation.substr(5)), .quad = true});
  for (const auto& [word, space] : {std::pair("atomic.global.", 1), std::pair("atomic.local.", 3)})
    if (operation.starts_with(word))
      all.push_back({.row_name = fmt::format("atomic.*.{}", operation.substr(std::string_view(word).size())),
                     .space = static_cast<uint8_t>(space)});
  return all;
}

bool offers(const Row& row, const Spelling& spelling) {
  if (row.name != spelling.row_name) return false;
  if (spelling.fast && !(row.variants & kFast)) return false;
  if (spelling.quad && !(row.variants & kQuad)) return false;
  if (spelling.space == 1) return row.variants & kGlobal;
  if (spelling.space == 3) return row.variants & kLocal;
  return !(row.variants & (kGlobal | kLocal));
}

bool can_be_declared(const Row& row) {
  return (row.variants & (kOpen | kForeign)) == 0;
}

/// "texture_2d" of "sample_texture_2d_grad" and "write_texture_2d.i16", "depth_2d" of "read_depth_2d".
std::string_view handle_of(std::string_view operation) {
  size_t at = operation.find("texture_");
  if (at == std::string_view::npos) at = operation.rfind("depth_");
  if (at == std::string_view::npos) return {};
  std::string_view rest = operation.substr(at, operation.find('.') - at);
  if (rest.ends_with("_grad")) rest.remove_suffix(5);
  return rest;
}

std::optional<Signature> match(const Row& row, const std::vector<Spelling>& as, const Names& suffix,
                               std::string_view name) {
  if ((row.variants & kForeign) != 0) return std::nullopt;
  for (const Spelling& spelling : as) {
    if (!offers(row, spelling)) continue;
    std::optional<Binding> binding = bind(row.suffix, suffix);
    if (!binding) continue;
    if (spelling.fast && binding->t.kind != AirType::Kind::single) continue;
    if (spelling.space) binding->space = spelling.space;
    binding->handle = handle_of(row.name);
    Signature signature = read_signature(row, *binding, name);
    if (mentions_bfloat(signature)) signature.since = std::max(signature.since, kFirstBfloat);
    return signature;
  }
  return std::nullopt;
}

/// The rows that bear one of these names, in the order of the table.
std::vector<const Row*> rows_named(const std::vector<Spelling>& as) {
  static const auto* const by_name = [] {
    auto* const rows = new std::unordered_map<std::string_view, std::vector<const Row*>>;
    for (const Row& row : table()) (*rows)[row.name].push_back(&row);
    return rows;
  }();
  std::vector<const Row*> found;
  for (const Spelling& spelling : as)
    if (const auto rows = by_name->find(spelling.row_name); rows != by_name->end())
      found.insert(found.end(), rows->second.begin(), rows->second.end());
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> names_of(const Row& row) {
  if (const size_t star = row.name.find('*'); star != std::string_view::npos) {
    std::vector<std::string> names;
    const auto named = [&](std::string_view space) {
      return fmt::format("{}{}{}", row.name.substr(0, star), space, row.name.substr(star + 1));
    };
    if (row.variants & kGlobal) names.push_back(named("global"));
    if (row.variants & kLocal) names.push_back(named("local"));
    return names;
  }
  std::vector<std::string> names = {std::string(row.name)};
  if (row.variants & kFast) names.push_back(fmt::format("fast_{}", row.name));
  if (row.variants & kQuad) names.push_back(fmt::format("quad_{}", row.name.substr(5)));
  return names;
}

/// Type suffixes to try, of every kind; used for suggestions and for examples.
constexpr std::string_view kSuffixes[] = {"",
                                          "f32",
                                          "f16",
                                          "v2f32",
                                          "v4f32",
                                          "v3f32",
                                          "v4f16",
                                          "i32",
                                          "i64",
                                          "s.i32",
                                          "u.i32",
                                          "s.i64",
                                          "u.i64",
                                          "s.i16",
                                          "u.i8",
                                          "v2i1",
                                          "s.v4i32",
                                          "f.f32.s.i32",
                                          "s.i32.f.f32",
                                          "f.v4f32.f.v4f16",
                                          "v64f32.p1f32",
                                          "v64f16.p3f16",
                                          "v64bf16.p1bf16",
                                          "v64f32.v64f16.v64f16.v64f32",
                                          "v64f32.f32",
                                          "v64f16.f16",
                                          "p3i8.p1i8",
                                          "p1i8.p3i8"};

std::vector<std::string> examples_of(const Row& row) {
  std::vector<std::string> found;
  for (const std::string& operation : names_of(row))
    for (const std::string_view suffix : kSuffixes) {
      const std::string name = suffix.empty() ? "air." + operation : fmt::format("air.{}.{}", operation, suffix);
      if (match(row, spellings(operation), suffix.empty() ? Names{} : split(suffix, '.'), name)) found.push_back(name);
    }
  return found;
}

std::vector<std::string> nearest(std::string_view name) {
  std::vector<std::pair<unsigned, std::string>> ranked;
  llvm::StringRef tail = name;
  tail.consume_front("air.");
  const llvm::StringRef head = tail.split('.').first;
  for (const Row& row : table()) {
    if (!can_be_declared(row)) continue;
    for (const std::string& operation : names_of(row)) {
      const unsigned far = std::min(tail.edit_distance(operation), head.edit_distance(operation));
      if (far <= 3) ranked.emplace_back(far, operation);
    }
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> names;
  for (const auto& [far, operation] : ranked)
    if (names.size() < 3 && std::find(names.begin(), names.end(), "air." + operation) == names.end())
      names.push_back("air." + operation);
  return names;
}

/// The operation is there but not with these types: what it takes.
std::vector<std::string> other_types(std::string_view name) {
  const std::string_view tail = name.substr(4);
  for (size_t end = tail.size(); end != std::string_view::npos && end != 0; end = tail.rfind('.', end - 1)) {
    const std::string_view operation = tail.substr(0, end);
    std::vector<std::string> names;
    for (const Row& row : table())
      for (const Spelling& spelling : spellings(operation))
        if (can_be_declared(row) && offers(row, spelling))
          for (const std::string& example : examples_of(row))
            if (example.starts_with(fmt::format("air.{}", operation))) names.push_back(example);
    if (names.size() > 6) names.resize(6);
    if (!names.empty()) return names;
  }
  return {};
}

std::string targets_with(const Signature& signature) {
  std::vector<std::string_view> names;
  for (const Target& target : known_targets())
    if (target.air >= signature.since && (signature.until == Version{} || target.air <= signature.until))
      names.push_back(target.name);
  return names.empty() ? "no target that we know" : fmt::format("{}", fmt::join(names, ", "));
}

/// A name, cut where the type suffix may begin.
struct Cut {
  std::string_view operation;
  Names suffix;
};

/// Every way to cut a name, from the longest operation on; none of a name without "air.".
std::vector<Cut> cuts_of(std::string_view name) {
  std::vector<Cut> cuts;
  if (!name.starts_with("air.")) return cuts;
  const std::string_view tail = name.substr(4);
  for (size_t end = tail.size(); end != std::string_view::npos && end != 0; end = tail.rfind('.', end - 1))
    cuts.push_back({tail.substr(0, end), end == tail.size() ? Names{} : split(tail.substr(end + 1), '.')});
  return cuts;
}

/// A row's form for any suffix: what its own types cannot be is read from the name.
std::optional<Signature> match_loosely(const Row& row, const std::vector<Spelling>& as, const Names& suffix,
                                       std::string_view name) {
  for (const Spelling& spelling : as) {
    if (!offers(row, spelling)) continue;
    Binding binding = bind(row.suffix, suffix).value_or(bind_any(suffix));
    if (spelling.space) binding.space = spelling.space;
    binding.handle = handle_of(row.name);
    return read_signature(row, binding, name);
  }
  return std::nullopt;
}

/// The forms that tell of pointers: of the longest operation that is a row's name.
std::vector<Signature> loose_forms(std::string_view name) {
  std::vector<Signature> found;
  for (const Cut& cut : cuts_of(name)) {
    const std::vector<Spelling> as = spellings(cut.operation);
    for (const Row* row : rows_named(as))
      if (auto signature = match_loosely(*row, as, cut.suffix, name)) found.push_back(std::move(*signature));
    if (!found.empty()) break;
  }
  return found;
}

/// A pointer to a type that the name does not spell after all tells nothing.
bool points_into(const AirType& type, unsigned space) {
  return type.is_pointer() && type.space == space && type.kind != AirType::Kind::nothing;
}

}  // namespace

std::vector<Signature> forms(std::string_view name) {
  std::vector<Signature> found;
  for (const Cut& cut : cuts_of(name)) {
    const std::vector<Spelling> as = spellings(cut.operation);
    for (const Row* row : rows_named(as))
      if (auto signature = match(*row, as, cut.suffix, name)) found.push_back(std::move(*signature));
    if (!found.empty()) return found;
  }
  if (name.starts_with("air.") && family_of(name.substr(4)) != nullptr) {
    Signature family{.name = std::string(name)};
    family.family_only = true;
    found.push_back(std::move(family));
  }
  return found;
}

Result<Signature> lookup(std::string_view name, Version air) {
  const std::vector<Signature> known = forms(name);
  for (const Signature& signature : known)
    if (air >= signature.since && (signature.until == Version{} || air <= signature.until)) return signature;
  if (!known.empty()) {
    const Signature& nearest_form = known.back();
    return fail(Errc::unsupported, "{}: not in AIR {}.{}; targets that have it: {}", name, air.major, air.minor,
                targets_with(nearest_form));
  }
  if (name.starts_with("air."))
    if (const auto types = other_types(name); !types.empty())
      return fail(Errc::compile_failed, "{}: the operation does not exist for these types; there is {}", name,
                  fmt::join(types, ", "));
  const auto near = nearest(name);
  if (near.empty()) return fail(Errc::compile_failed, "{}: no such AIR operation", name);
  return fail(Errc::compile_failed, "{}: no such AIR operation; near it: {}", name, fmt::join(near, ", "));
}

Stages stages_of(std::string_view name) {
  for (const Cut& cut : cuts_of(name)) {
    const std::vector<Spelling> as = spellings(cut.operation);
    for (const Row* row : rows_named(as))
      if (match_loosely(*row, as, cut.suffix, name)) return row->stages;
  }
  const Family* const family = name.starts_with("air.") ? family_of(name.substr(4)) : nullptr;
  return family == nullptr ? kEverywhere : family->stages;
}

std::string_view word_of(Stages stages) {
  for (const auto& [set, word] :
       {std::pair(kInFragments, "fragment"), {kInMeshes, "mesh"}, {kInObjects, "object"}, {kInTiles, "tile"}})
    if (stages == set) return word;
  return "some";
}

std::optional<AirType> pointer_operand(std::string_view name, unsigned index, unsigned space) {
  const std::vector<Signature> known = loose_forms(name);
  for (const Signature& form : known)
    if (index < form.parameters.size() && points_into(form.parameters[index].type, space))
      return form.parameters[index].type;
  // Another operand list than any form's.
  for (const Signature& form : known)
    for (auto parameter = form.parameters.rbegin(); parameter != form.parameters.rend(); ++parameter)
      if (points_into(parameter->type, space)) return parameter->type;
  return std::nullopt;
}

std::optional<AirType> pointer_result(std::string_view name, unsigned space) {
  for (const Signature& form : loose_forms(name))
    if (points_into(form.result, space)) return form.result;
  return std::nullopt;
}

llvm::FunctionType* function_type(const Signature& signature, llvm::LLVMContext& context) {
  llvm::SmallVector<llvm::Type*, 12> parameters;
  for (const Parameter& parameter : signature.parameters) parameters.push_back(llvm_type(parameter.type, context));
  return llvm::FunctionType::get(llvm_type(signature.result, context), parameters, false);
}

std::string typed_text(const Signature& signature) {
  std::vector<std::string> parameters;
  for (const Parameter& parameter : signature.parameters) parameters.push_back(typed_text(parameter.type));
  return fmt::format("{} ({})", typed_text(signature.result), fmt::join(parameters, ", "));
}

bool agrees(const Signature& signature, const llvm::FunctionType* type) {
  return signature.family_only || function_type(signature, type->getContext()) == type;
}

void annotate(llvm::Function& function, const Signature& signature) {
  using llvm::Attribute;
  using llvm::MemoryEffects;
  function.setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Local);
  if (signature.family_only || signature.effect == Effect::unknown) return;
  const auto add = [&](std::initializer_list<Attribute::AttrKind> kinds) {
    for (const auto kind : kinds) function.addFnAttr(kind);
  };
  add({Attribute::MustProgress, Attribute::NoUnwind, Attribute::WillReturn});
  switch (signature.effect) {
    case Effect::pure:
      add({Attribute::NoFree, Attribute::NoSync});
      function.setMemoryEffects(MemoryEffects::none());
      break;
    case Effect::lanes:
      add({Attribute::Convergent});
      break;
    case Effect::atomic:
    case Effect::texture_atomic:
    case Effect::unknown:
      break;
    case Effect::matrix_load:
      add({Attribute::Convergent, Attribute::NoFree});
      function.setMemoryEffects(MemoryEffects::readOnly());
      break;
    case Effect::matrix_store:
      add({Attribute::Convergent});
      function.setMemoryEffects(MemoryEffects::writeOnly());
      break;
    case Effect::out_argument:
    case Effect::texture_write:
      function.setMemoryEffects(MemoryEffects::argMemOnly());
      break;
    case Effect::texture_sample:
      add({Attribute::Convergent});
      [[fallthrough]];
    case Effect::texture_read:
      add({Attribute::NoFree});
      function.setMemoryEffects(MemoryEffects::argMemOnly(llvm::ModRefInfo::Ref));
      break;
    case Effect::tile_read:
      add({Attribute::NoFree});
      function.setMemoryEffects(MemoryEffects::readOnly());
      break;
    case Effect::tile_write:
      function.setMemoryEffects(MemoryEffects::writeOnly());
      break;
    case Effect::hidden_read:
      add({Attribute::NoFree});
      function.setMemoryEffects(MemoryEffects::inaccessibleMemOnly(llvm::ModRefInfo::Ref));
      break;
  }
  // A tensor is made of an address, which it keeps and does not follow.
  const bool keeps_address = signature.name.starts_with("air.init_strided_private_tensor.");
  for (unsigned i = 0; i < signature.parameters.size() && i < function.arg_size(); ++i) {
    if (!signature.parameters[i].type.is_pointer()) continue;
    if (keeps_address && signature.parameters[i].type.space != 0) {
      function.addParamAttr(i, Attribute::ReadNone);
      continue;
    }
    function.addParamAttr(i, Attribute::NoCapture);
    if (signature.parameters[i].access == Parameter::Access::reads) function.addParamAttr(i, Attribute::ReadOnly);
    if (signature.parameters[i].access == Parameter::Access::writes) function.addParamAttr(i, Attribute::WriteOnly);
  }
}

Result<llvm::Function*> declare(llvm::Module& module, std::string_view name, Version air) {
  SMELT_TRY(const Signature signature, lookup(name, air));
  if (signature.family_only)
    return fail(Errc::compile_failed, "{}: known by its family only, so it cannot be declared", name);
  llvm::FunctionType* type = function_type(signature, module.getContext());
  if (llvm::Function* present = module.getFunction(llvm::StringRef(name.data(), name.size()))) {
    if (present->getFunctionType() == type) return present;
    return fail(Errc::compile_failed, "{}: the module declares it with another signature than AIR's: {}", name,
                typed_text(signature));
  }
  llvm::Function* made = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                                llvm::StringRef(name.data(), name.size()), module);
  annotate(*made, signature);
  return made;
}

std::string mangle(std::string_view operation, const AirType& type, char signedness) {
  if (signedness != 0) return fmt::format("air.{}.{}.{}", operation, signedness, spell(type));
  return fmt::format("air.{}.{}", operation, spell(type));
}

std::vector<OperationRow> operation_rows() {
  std::vector<OperationRow> rows;
  for (const Row& row : table())
    if (can_be_declared(row))
      rows.push_back({row.name, row.signature, row.evidence, row.since, row.until, examples_of(row)});
  return rows;
}

int simdgroup_barrier_scope(Version air) {
  return air >= Version{2, 6} ? 4 : 1;
}

}  // namespace smelt::aot::air
