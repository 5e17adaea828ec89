// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The typed type table: LLVM 19 types in, LLVM 14 TYPE_BLOCK records out.
//
// LLVM 19 knows `ptr addrspace(N)`; a record wants `T addrspace(N)*`. Every opaque pointer maps to the canonical
// `i8 addrspace(N)*`; other pointees exist only where lowering asks for them with pointer(). Entries are interned in
// order of first need, sub-types first, so an entry never refers forward (opaque-pointer IR has no recursive types).
// See docs/design/bitcode-writer.md sections 2 and 4.
#pragma once

#include "bitcode/trouble.hpp"

#include "llvm/ADT/DenseMap.h"

#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace llvm {
class Type;
}

namespace smelt::aot::bitcode {

class BitWriter;

using TypeId = uint32_t;

enum class TypeKind : uint8_t {
  void_type,
  half,
  bfloat,
  float_type,
  double_type,
  metadata,
  integer,         // count: bits
  pointer,         // count: address space; sub: pointee
  array,           // count: elements; sub: element
  vector,          // count: elements; sub: element
  literal_struct,  // count: packed; sub: fields
  named_struct,    // the same with a name
  opaque_struct,
  function,  // count: variadic; sub: return type, then parameters
};

struct Type {
  TypeKind kind = TypeKind::void_type;
  uint32_t first_sub = 0, sub_count = 0;
  uint32_t name = 0;  // index, 0 none
  uint64_t count = 0;
};

class TypeTable {
 public:
  explicit TypeTable(Trouble& trouble);

  /// Canonical: every pointer is i8*. A type that LLVM 14 bitcode cannot hold is reported, and void returned.
  TypeId of(llvm::Type* type) {
    if (type == last_type_) return last_id_;
    return look_up(type);
  }

  TypeId pointer(TypeId pointee, unsigned space) {
    const TypeId sub[] = {pointee};
    return intern(TypeKind::pointer, space, sub);
  }
  /// i8 addrspace(space)*
  TypeId canonical_pointer(unsigned space);
  TypeId vector(uint64_t count, TypeId element) {
    const TypeId sub[] = {element};
    return intern(TypeKind::vector, count, sub);
  }
  TypeId array(uint64_t count, TypeId element) {
    const TypeId sub[] = {element};
    return intern(TypeKind::array, count, sub);
  }
  TypeId integer(unsigned bits) { return intern(TypeKind::integer, bits, {}); }
  TypeId scalar(TypeKind kind) { return intern(kind, 0, {}); }
  TypeId literal_struct(std::span<const TypeId> fields) { return intern(TypeKind::literal_struct, 0, fields); }
  TypeId opaque(std::string_view name) { return intern(TypeKind::opaque_struct, 0, {}, name); }
  TypeId function(TypeId result, std::span<const TypeId> parameters, bool variadic);

  const Type& operator[](TypeId id) const { return types_[id]; }
  std::span<const TypeId> subs(TypeId id) const {
    return std::span(subs_).subspan(types_[id].first_sub, types_[id].sub_count);
  }
  bool is(TypeId id, TypeKind kind) const { return types_[id].kind == kind; }
  bool is_pointer(TypeId id) const { return is(id, TypeKind::pointer); }
  TypeId pointee(TypeId pointer) const { return subs_[types_[pointer].first_sub]; }
  unsigned space(TypeId pointer) const { return static_cast<unsigned>(types_[pointer].count); }
  /// The element of a vector, else the type itself.
  TypeId scalar_of(TypeId id) const { return is(id, TypeKind::vector) ? subs_[types_[id].first_sub] : id; }
  /// The type one step inside: struct field, array or vector element; nothing where there is no such part.
  std::optional<TypeId> inside(TypeId id, uint64_t index) const;
  size_t size() const { return types_.size(); }

  /// As LLVM 14 prints it, e.g. "float addrspace(1)*": for messages.
  std::string text(TypeId id) const;

  void write(BitWriter& out) const;

 private:
  TypeId look_up(llvm::Type* type);
  TypeId translate(llvm::Type* type);
  TypeId intern(TypeKind kind, uint64_t count, std::span<const TypeId> subs, std::string_view name = {});
  void grow();

  Trouble& trouble_;
  std::vector<Type> types_;
  std::vector<TypeId> subs_;
  std::vector<std::string> names_{std::string()};
  std::vector<uint32_t> slots_;   // open addressing: type id + 1, or 0
  std::vector<uint64_t> hashes_;  // by type id
  llvm::DenseMap<llvm::Type*, TypeId> known_;
  std::array<TypeId, 8> canonical_{};  // id + 1, by address space
  llvm::Type* last_type_ = nullptr;
  TypeId last_id_ = 0;
  unsigned depth_ = 0;
};

}  // namespace smelt::aot::bitcode
