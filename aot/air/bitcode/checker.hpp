// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Private to check*.cpp.
#pragma once

#include "bitcode/check.hpp"

namespace smelt::aot::bitcode {

class ModuleChecker {
 public:
  explicit ModuleChecker(const TypedModule& module)
      : module_(module), types_(module.types), known_(module.values.size()) {}
  Result<void> run();

 private:
  // check.cpp: types, module level, functions
  void types();
  void module_level();
  void pool(std::span<const Constant> constants);
  void body(const Body& body);

  // check_constants.cpp
  void constant(const Constant& constant);
  void words(const Constant& constant);
  void constant_cast(const Constant& constant);
  void constant_gep(const Constant& constant);
  void constant_parts(const Constant& constant);

  // check_records.cpp
  void record(const Record& record);
  void binary();
  void unary();
  void cast();
  void memory();
  void gep();
  void atomics();
  void call();
  void phi();
  void branches();
  void vectors();
  void aggregates();

  // ---- helpers
  /// Reports unless both are the same type. `what` reads like "pointee of load".
  bool same(std::string_view what, TypeId found, TypeId wanted);
  void wrong(std::string_view what);
  bool is_integer(TypeId type) const { return types_.is(types_.scalar_of(type), TypeKind::integer); }
  bool is_floating(TypeId type) const;
  bool is_boolean(TypeId type) const {
    const TypeId scalar = types_.scalar_of(type);
    return types_.is(scalar, TypeKind::integer) && types_[scalar].count == 1;
  }
  /// A vector's element count, 0 for anything else.
  uint64_t lanes(TypeId type) const { return types_.is(type, TypeKind::vector) ? types_[type].count : 0; }
  /// Bits of a number or of a vector of numbers, 0 for anything else.
  uint64_t bits(TypeId type) const;
  bool legal_cast(uint64_t code, TypeId from, TypeId to) const;
  /// Pointee that a walk through `indices` ends at; nothing where a step leads nowhere.
  std::optional<TypeId> walk(TypeId source, std::span<const ValueRef> indices) const;
  std::optional<uint64_t> constant_number(ValueRef value) const;
  TypeId type_of(ValueRef value) const { return module_.values[value].type; }
  TypeId pointee_of(ValueRef value, std::string_view what);

  // The fields of the record at hand, front to back. Running out, or a field of the wrong kind, is reported.
  ValueRef value();
  uint64_t literal();
  bool more() const { return at_ < fields_.size(); }
  const Field* peek() const { return more() ? &fields_[at_] : nullptr; }
  void result(TypeId wanted);
  void no_result();

  const TypedModule& module_;
  const TypeTable& types_;
  std::vector<uint8_t> known_;  // by value: defined where the record at hand can see it
  std::optional<Error> error_;
  const Body* body_ = nullptr;
  const Record* record_ = nullptr;
  std::span<const Field> fields_;
  size_t at_ = 0;
};

}  // namespace smelt::aot::bitcode
