// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "interface/argument_members.hpp"

#include "interface/entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace smelt::aot::air {
namespace {

// Nodes may be shared, so that a short file spells a structure that doubles with each level.
constexpr size_t kMostMembers = 16384, kMostStructures = 16384;
constexpr unsigned kMostDepth = 32;

/// [ "air.struct_type_info", node, ] offset, size, elements, type, name [, "air.indirect_argument", node or first id ]
struct Field {
  const llvm::MDNode* structure = nullptr;
  uint64_t offset = 0, size = 0, count = 0;
  std::string_view type_name, name;
  std::optional<EntryArgumentNode> detail;
  std::optional<uint64_t> first_id;
};

bool read_field(NodeReader& reader, Field& field) {
  const auto offset = reader.number(), size = reader.number(), count = reader.number();
  const auto type_name = reader.text(), name = reader.text();
  if (!offset || !size || !count || !type_name || !name) return false;
  field.offset = *offset;
  field.size = *size;
  field.count = *count;
  field.type_name = *type_name;
  field.name = *name;
  return true;
}

/// Nothing: malformed.
std::optional<std::vector<Field>> read_fields(const llvm::MDNode& node) {
  std::vector<Field> fields;
  NodeReader reader(node);
  const llvm::MDNode* structure = nullptr;
  while (!reader.at_end()) {
    const auto key = reader.text();
    if (key == "air.struct_type_info") {
      structure = reader.node();
      if (structure == nullptr) return std::nullopt;
    } else if (key == "air.indirect_argument") {
      if (fields.empty()) return std::nullopt;
      if (const llvm::MDNode* detail = reader.node())
        fields.back().detail = read_argument(*detail);
      else
        fields.back().first_id = reader.number();
    } else if (key) {
      continue;  // of no interest here; what follows it is a number or a node, if anything
    } else if (!read_field(reader, fields.emplace_back())) {
      return std::nullopt;
    } else {
      fields.back().structure = std::exchange(structure, nullptr);
    }
  }
  return fields;
}

class MemberReader {
 public:
  explicit MemberReader(bool has_ids) : has_ids_(has_ids) {}

  std::vector<MemberInfo> members;

  /// Adds what is inside; `offset`, `id` and `path` are the structure's own. False: malformed, or too much.
  bool add(const llvm::MDNode& structure, uint64_t offset, uint64_t id, const std::string& path, unsigned depth) {
    if (depth > kMostDepth || ++structures_ > kMostStructures) return false;
    const auto fields = read_fields(structure);
    if (!fields) return false;
    return std::all_of(fields->begin(), fields->end(), [&](const Field& field) {
      return field.structure != nullptr ? add_structures(field, offset, id, path, depth)
                                        : add_value(field, offset, id, path);
    });
  }

 private:
  bool add_structures(const Field& field, uint64_t offset, uint64_t id, const std::string& path, unsigned depth) {
    uint64_t next_id = id + field.first_id.value_or(0);
    for (uint64_t i = 0; i < std::max<uint64_t>(field.count, 1); ++i) {
      const size_t before = members.size();
      const std::string element = field.count != 0 ? fmt::format("[{}]", i) : "";
      if (!add(*field.structure, offset + field.offset + i * field.size, next_id,
               fmt::format("{}{}{}.", path, field.name, element), depth + 1))
        return false;
      if (members.size() == before) break;  // nothing in it, however often it is there
      for (size_t at = before; at < members.size(); ++at)
        next_id = std::max<uint64_t>(next_id, uint64_t{members[at].id} + std::max(members[at].count, 1u));
    }
    return true;
  }

  bool add_value(const Field& field, uint64_t offset, uint64_t id, const std::string& path) {
    if (has_ids_ && (!field.detail || !field.detail->slots)) return true;  // without an id nobody can name it
    constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max() / 2;
    const uint64_t first = has_ids_ ? id + field.detail->slots->first : 0, at = offset + field.offset;
    if (members.size() == kMostMembers || std::max({first, at, field.size, field.count}) > kMost) return false;
    const std::string_view kind = has_ids_ ? std::string_view(field.detail->kind) : "air.indirect_constant";
    const bool is_handle = kind == "air.texture" || kind == "air.sampler";
    // array<texture2d<float>, n> is one member with n slots.
    const uint64_t slots = is_handle && field.count == 0 ? field.detail->slots->count : 1;
    MemberInfo member;
    member.name = path + std::string(field.name);
    member.type_name = field.type_name;
    member.id = static_cast<uint32_t>(first);
    member.count = static_cast<uint32_t>(slots > 1 ? slots : field.count);
    member.offset = static_cast<uint32_t>(at);
    member.size = static_cast<uint32_t>(slots > 1 ? field.size / slots : field.size);
    if (is_handle) {
      member.kind = MemberKind::other;  // its type says which
      member.access = field.detail->access;
    } else if (kind == "air.buffer" || kind == "air.indirect_buffer") {
      member.kind = MemberKind::pointer;
      member.access = field.detail->access;
    } else {
      member.kind = kind == "air.indirect_constant" ? MemberKind::constant : MemberKind::other;
    }
    members.push_back(std::move(member));
    return true;
  }

  const bool has_ids_;
  size_t structures_ = 0;
};

}  // namespace

std::vector<MemberInfo> read_members(const llvm::MDNode& structure) {
  MemberReader reader(true);
  if (!reader.add(structure, 0, 0, "", 0)) return {};
  return std::move(reader.members);
}

std::vector<MemberInfo> read_structure(const llvm::MDNode& structure) {
  MemberReader reader(false);
  if (!reader.add(structure, 0, 0, "", 0) || reader.members.size() > kMostStructureMembers) return {};
  return std::move(reader.members);
}

}  // namespace smelt::aot::air
