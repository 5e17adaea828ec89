// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/loader/argument_rule.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace smelt::loader {
namespace {

struct NumberRow {
  std::string_view name;
  ElementKind kind;
  uint32_t bytes;
};
constexpr NumberRow kScalars[] = {
    {"float", ElementKind::floating, 4},
    {"half", ElementKind::floating, 2},
    {"double", ElementKind::floating, 8},
    {"bfloat", ElementKind::bfloat, 2},
    {"int", ElementKind::integer, 4},
    {"short", ElementKind::integer, 2},
    {"long", ElementKind::integer, 8},
    {"uint", ElementKind::unsigned_integer, 4},
    {"ushort", ElementKind::unsigned_integer, 2},
    {"ulong", ElementKind::unsigned_integer, 8},
    {"uchar", ElementKind::unsigned_integer, 1},
    {"bool", ElementKind::boolean, 1},
};

/// Takes a digit from 2 to 4 from the end.
std::optional<uint32_t> take_count(std::string_view& name) {
  if (name.empty() || name.back() < '2' || name.back() > '4') return std::nullopt;
  const auto count = static_cast<uint32_t>(name.back() - '0');
  name.remove_suffix(1);
  return count;
}

/// Compares element types by the table in docs/reference/arguments.md.
bool same_element(ElementKind given, uint32_t bytes, const NumberType& wanted) {
  if (bytes != wanted.component) return false;
  // An integer array may have bytes other than 0 and 1, which are not values of bool.
  if (wanted.kind == ElementKind::boolean) return given == ElementKind::boolean;
  if (is_whole(wanted.kind)) return is_whole(given);
  // NumPy has no bfloat16; its bits stand in arrays of uint16.
  if (wanted.kind == ElementKind::bfloat && given == ElementKind::unsigned_integer) return true;
  return given == wanted.kind;
}

uint64_t product(std::span<const uint64_t> shape) {
  uint64_t all = 1;
  for (const uint64_t extent : shape)
    if (__builtin_mul_overflow(all, extent, &all)) return UINT64_MAX;
  return all;
}

/// Returns true if some of the last dimensions together have this many elements.
bool ends_with(std::span<const uint64_t> shape, uint64_t elements) {
  uint64_t inner = 1;
  for (size_t i = shape.size(); i-- > 0 && inner < elements;)
    if (__builtin_mul_overflow(inner, shape[i], &inner)) return false;
  return inner == elements;
}

std::string joined(std::span<const uint64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

/// Compares the shape of an array, whose element type fits, with a declared vector or matrix.
std::optional<Misfit> misfit_of_shape(std::span<const uint64_t> shape, const NumberType& wanted, std::string_view name,
                                      uint64_t size) {
  if (wanted.rows == 1 || shape.empty() || product(shape) == 0) return std::nullopt;
  if (wanted.is_padded()) {
    const uint32_t room = wanted.pitch / wanted.component;
    const bool is_one = shape.size() == 1 && shape[0] * wanted.component == size;
    const bool tells = shape.size() > 1 && (ends_with(shape, room) || shape.back() * wanted.component == size);
    if (is_one || tells) return std::nullopt;
    const std::string packed = wanted.columns > 1 ? "" : fmt::format(", or let the kernel take packed_{}", name);
    return Misfit{Misfit::Kind::padding, fmt::format("an array of shape {}", joined(shape)),
                  fmt::format("each {} of {} occupies the space of {}: pass an array whose last dimension is {}{}",
                              wanted.columns > 1 ? "column" : "vector", wanted.rows, room, room, packed)};
  }
  // A last dimension of 2 to 4 is taken for the components of a vector.
  const uint64_t last = shape.back();
  if (shape.size() < 2 || last < 2 || last > 4 || last % wanted.rows == 0 ||
      (wanted.columns == 1 && ends_with(shape, wanted.rows)))
    return std::nullopt;
  return Misfit{
      Misfit::Kind::rows, fmt::format("an array of shape {}", joined(shape)),
      fmt::format("pass an array whose last dimension is {}; or one of one dimension, to have its numbers read "
                  "{} at a time",
                  wanted.rows, wanted.rows)};
}

bool overlaps(const HostField& field, const MemberInfo& member) {
  const uint64_t end = field.offset + product(field.shape) * field.item;
  const uint64_t member_end = member.offset + uint64_t{member.size} * std::max(member.count, 1U);
  return field.offset < member_end && member.offset < end;
}

bool is_inside(std::string_view name, std::string_view structure) {
  return name.size() > structure.size() && name.starts_with(structure) &&
         (name[structure.size()] == '.' || name[structure.size()] == '[');
}

/// Compares one value of a record with the member of its name. Returns nothing if it fits, else why it does not.
std::optional<std::string> misfit_of_member(const HostField& field, const MemberInfo& member) {
  if (field.offset != member.offset)
    return fmt::format("member '{}' lies at byte {}, the array has it at {}", member.name, member.offset, field.offset);
  const uint64_t elements = product(field.shape), count = std::max(member.count, 1U);
  if (member.kind != MemberKind::constant) {
    if (field.item * elements == member.size * count) return std::nullopt;
    return fmt::format("member '{}' is a handle of 8 bytes", member.name);
  }
  const NumberType type = number_type(member.type_name, member.size);
  const auto wrong_type = [&] {
    return fmt::format("member '{}' is {}{}, the array has {}{} there", member.name, member.type_name,
                       member.count != 0 ? fmt::format("[{}]", member.count) : "", element_name(field.kind, field.item),
                       field.shape.empty() ? "" : fmt::format(" of shape {}", joined(field.shape)));
  };
  if (type.kind == ElementKind::other)  // an enumeration, or a structure that is not listed
    return elements * field.item == member.size * count ? std::nullopt : std::optional(wrong_type());
  if (field.kind == ElementKind::raw)
    return elements * field.item >= member.size * count ? std::nullopt : std::optional(wrong_type());
  if (!same_element(field.kind, field.item, type)) return wrong_type();
  // A single vector may lack its padding, because no other element follows it.
  const bool is_one = count == 1 && type.columns == 1;
  if (is_one ? elements < type.rows || elements * field.item > member.size
             : elements * field.item != member.size * count)
    return wrong_type();
  if (!is_one && misfit_of_shape(field.shape, type, member.type_name, member.size)) return wrong_type();
  return std::nullopt;
}

std::string listed(std::span<const MemberInfo> members) {
  std::string names;
  for (const MemberInfo& member : members) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", member.name);
  return names;
}

/// Returns true if the fields have the names f0, f1, ..., which NumPy gives to fields without names.
bool are_numbered(const std::vector<HostField>& fields) {
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].name != fmt::format("f{}", i)) return false;
  return true;
}

std::optional<Misfit> misfit_of_record(const std::vector<HostField>& fields, std::string_view name,
                                       std::span<const MemberInfo> members) {
  const auto wrong = [&](std::string what) { return Misfit{Misfit::Kind::record, std::move(what), {}}; };
  const bool numbered = are_numbered(fields) && fields.size() == members.size();
  std::vector<bool> found(members.size());
  for (size_t at = 0; at < fields.size(); ++at) {
    const HostField& field = fields[at];
    const auto member = numbered ? members.begin() + static_cast<std::ptrdiff_t>(at)
                                 : std::ranges::find(members, std::string_view(field.name), &MemberInfo::name);
    if (member != members.end()) {
      found[static_cast<size_t>(member - members.begin())] = true;
      if (auto what = misfit_of_member(field, *member))
        return wrong(fmt::format("records that lie otherwise than {}: {}", name, *what));
      continue;
    }
    bool is_inner = false;
    for (size_t i = 0; i < members.size(); ++i) {
      if (!is_inside(field.name, members[i].name)) continue;
      found[i] = is_inner = true;
    }
    if (is_inner) continue;
    if (std::ranges::any_of(members, [&](const MemberInfo& one) { return overlaps(field, one); }))
      return wrong(fmt::format("records with a field '{}', which {} does not have: it has {}", field.name, name,
                               listed(members)));
  }
  for (size_t i = 0; i < members.size(); ++i)
    if (!found[i]) return wrong(fmt::format("records without '{}': {} has {}", members[i].name, name, listed(members)));
  return std::nullopt;
}

/// Compares plain numbers with a structure. They fit if all its members are such numbers, without gaps.
std::optional<Misfit> misfit_of_structure(const HostArray& given, std::string_view name, uint64_t size,
                                          std::span<const MemberInfo> members) {
  if (product(given.shape) == 0) return std::nullopt;  // a launch of no threads accepts an empty array
  uint64_t next = 0;
  bool same = true;
  for (const MemberInfo& member : members) {
    const NumberType type = number_type(member.type_name, member.size);
    same = same && member.kind == MemberKind::constant && same_element(given.kind, given.item, type) &&
           !type.is_padded() && member.offset == next;
    next = member.offset + uint64_t{member.size} * std::max(member.count, 1U);
  }
  const bool lies = given.shape.size() < 2 || ends_with(given.shape, size / given.item);
  if (same && next == size && lies) return std::nullopt;
  return Misfit{Misfit::Kind::record,
                fmt::format("{} numbers for {}, whose members are {}", element_name(given.kind, given.item), name,
                            listed(members)),
                {}};
}

}  // namespace

bool is_whole(ElementKind kind) {
  return kind == ElementKind::integer || kind == ElementKind::unsigned_integer || kind == ElementKind::boolean;
}

std::string element_name(ElementKind kind, uint32_t bytes) {
  switch (kind) {
    case ElementKind::boolean:
      return "bool";
    case ElementKind::integer:
      return fmt::format("int{}", bytes * 8);
    case ElementKind::unsigned_integer:
      return fmt::format("uint{}", bytes * 8);
    case ElementKind::floating:
      return fmt::format("float{}", bytes * 8);
    case ElementKind::bfloat:
      return "bfloat16";
    case ElementKind::complex:
      return fmt::format("complex{}", bytes * 8);
    case ElementKind::raw:
    case ElementKind::other:
      break;
  }
  return fmt::format("elements of {} bytes", bytes);
}

NumberType number_type(std::string_view name, uint64_t size) {
  const bool is_packed = name.starts_with("packed_");
  if (is_packed) name.remove_prefix(std::string_view("packed_").size());
  if (name.starts_with("atomic_")) name.remove_prefix(std::string_view("atomic_").size());
  uint32_t rows = 1, columns = 1;
  if (const auto last = take_count(name)) {
    rows = *last;
    if (name.ends_with('x')) {
      name.remove_suffix(1);
      const auto first = take_count(name);
      if (!first) return {};
      columns = *first;
    }
  }
  for (const NumberRow& scalar : kScalars) {
    if (scalar.name != name) continue;
    const uint32_t pitch = scalar.bytes * (rows == 3 && !is_packed ? 4 : rows);
    if (uint64_t{pitch} * columns == size) return {scalar.kind, scalar.bytes, rows, columns, pitch};
  }
  return {};
}

std::optional<Misfit> misfit(const HostArray& given, const NumberType& wanted, std::string_view name, uint64_t size,
                             std::span<const MemberInfo> members) {
  if (given.kind == ElementKind::raw) return std::nullopt;
  if (wanted.kind == ElementKind::other) {
    if (members.empty()) return std::nullopt;
    if (given.kind == ElementKind::other)
      return given.fields != nullptr ? misfit_of_record(*given.fields, name, members) : std::nullopt;
    // An array of bytes stands for the structure's memory.
    const bool are_bytes = given.kind == ElementKind::unsigned_integer && given.item == 1;
    return are_bytes ? std::nullopt : misfit_of_structure(given, name, size, members);
  }
  if (given.kind == ElementKind::other) return std::nullopt;  // records, whose size the caller checks
  // A complex number is two of its parts.
  if (given.kind == ElementKind::complex && wanted.rows == 2 && wanted.columns == 1 &&
      wanted.kind == ElementKind::floating && given.item == size)
    return std::nullopt;
  if (!same_element(given.kind, given.item, wanted))
    return Misfit{Misfit::Kind::element, element_name(given.kind, given.item),
                  element_name(wanted.kind, wanted.component)};
  return misfit_of_shape(given.shape, wanted, name, size);
}

std::string too_short(const LeastBytes& least, uint64_t given, std::span<const ArgInfo> arguments) {
  std::string_view name, type;
  for (const ArgInfo& argument : arguments)
    if (class_of(argument.kind) == BindingClass::buffer && argument.index <= least.slot &&
        least.slot < argument.index + argument.array_size) {
      name = argument.name;
      type = argument.type_name;
    }
  return fmt::format("buffer {} '{}' has {} byte{}, and the kernel reads {}{}of {} bytes", least.slot, name, given,
                     given == 1 ? "" : "s", type, type.empty() ? "" : " ", least.bytes);
}

}  // namespace smelt::loader
