// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a name becomes a signature: the longest row name that starts it, whose suffix and signature are then read
// (row_signature.hpp); and what to suggest where none fits.
#include "ops/intrinsics.hpp"

#include "interface/limits.hpp"
#include "ops/row_signature.hpp"

#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace smelt::aot::air {
namespace {

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

std::optional<Signature> match(const Row& row, const std::vector<Spelling>& as, const NameParts& suffix,
                               std::string_view name) {
  if ((row.variants & kForeign) != 0) return std::nullopt;
  for (const Spelling& spelling : as) {
    if (!offers(row, spelling)) continue;
    std::optional<SuffixTypes> binding = suffix_types(row.suffix, suffix);
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
      if (match(row, spellings(operation), suffix.empty() ? NameParts{} : split_name(suffix, '.'), name))
        found.push_back(name);
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
  return names.empty() ? "no known target" : fmt::format("{}", fmt::join(names, ", "));
}

/// A name, cut where the type suffix may begin.
struct Cut {
  std::string_view operation;
  NameParts suffix;
};

/// Every way to cut a name, from the longest operation on; none of a name without "air.".
std::vector<Cut> cuts_of(std::string_view name) {
  std::vector<Cut> cuts;
  if (!name.starts_with("air.")) return cuts;
  const std::string_view tail = name.substr(4);
  for (size_t end = tail.size(); end != std::string_view::npos && end != 0; end = tail.rfind('.', end - 1))
    cuts.push_back({tail.substr(0, end), end == tail.size() ? NameParts{} : split_name(tail.substr(end + 1), '.')});
  return cuts;
}

/// A row's form for any suffix: what its own types cannot be is read from the name.
std::optional<Signature> match_loosely(const Row& row, const std::vector<Spelling>& as, const NameParts& suffix,
                                       std::string_view name) {
  for (const Spelling& spelling : as) {
    if (!offers(row, spelling)) continue;
    SuffixTypes binding = suffix_types(row.suffix, suffix).value_or(any_suffix_types(suffix));
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
      return fail(Errc::compile_failed, "{}: the operation does not exist for these types; it exists as {}", name,
                  fmt::join(types, ", "));
  const auto near = nearest(name);
  if (near.empty()) return fail(Errc::compile_failed, "{}: no such AIR operation", name);
  return fail(Errc::compile_failed, "{}: no such AIR operation; similar names: {}", name, fmt::join(near, ", "));
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

std::string typed_text(const Signature& signature) {
  std::vector<std::string> parameters;
  for (const Parameter& parameter : signature.parameters) parameters.push_back(typed_text(parameter.type));
  return fmt::format("{} ({})", typed_text(signature.result), fmt::join(parameters, ", "));
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
