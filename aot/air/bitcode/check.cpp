// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bitcode/check.hpp"

#include "bitcode/checker.hpp"

#include "llvm/Bitcode/LLVMBitCodes.h"

#include <algorithm>

namespace smelt::aot::bitcode {

namespace bitc = llvm::bitc;

// ---- reports --------------------------------------------------------------------------------------------------------

void ModuleChecker::wrong(std::string_view what) {
  if (error_) return;
  std::string place = "module level";
  std::string subject;
  if (body_) {
    subject = body_->function->getName().str();
    place = fmt::format("function '{}'", subject);
    if (record_ && record_->origin) place += fmt::format(", instruction '{}'", shown(*record_->origin));
  }
  error_ = Error{Errc::compile_failed, fmt::format("{}: typed check before writing: {}", place, what), subject};
}

bool ModuleChecker::same(std::string_view what, TypeId found, TypeId wanted) {
  if (found == wanted) return true;
  wrong(fmt::format("{} is '{}', must be '{}'", what, types_.text(found), types_.text(wanted)));
  return false;
}

// ---- types ----------------------------------------------------------------------------------------------------------

bool ModuleChecker::is_floating(TypeId type) const {
  switch (types_[types_.scalar_of(type)].kind) {
    case TypeKind::half:
    case TypeKind::bfloat:
    case TypeKind::float_type:
    case TypeKind::double_type:
      return true;
    default:
      return false;
  }
}

uint64_t ModuleChecker::bits(TypeId type) const {
  const uint64_t count = types_.is(type, TypeKind::vector) ? types_[type].count : 1;
  const TypeId scalar = types_.scalar_of(type);
  switch (types_[scalar].kind) {
    case TypeKind::half:
    case TypeKind::bfloat:
      return 16 * count;
    case TypeKind::float_type:
      return 32 * count;
    case TypeKind::double_type:
      return 64 * count;
    case TypeKind::integer:
      return types_[scalar].count * count;
    default:
      return 0;
  }
}

bool ModuleChecker::legal_cast(uint64_t code, TypeId from, TypeId to) const {
  const TypeId source = types_.scalar_of(from), target = types_.scalar_of(to);
  const bool pointers = types_.is_pointer(source) && types_.is_pointer(target);
  if (code == bitc::CAST_BITCAST && !pointers)
    return !types_.is_pointer(source) && !types_.is_pointer(target) && bits(from) != 0 && bits(from) == bits(to);
  if (lanes(from) != lanes(to)) return false;
  const bool whole_from = is_integer(from), whole_to = is_integer(to);
  const bool floating_from = is_floating(from), floating_to = is_floating(to);
  switch (code) {
    case bitc::CAST_BITCAST:
      return types_.space(source) == types_.space(target);
    case bitc::CAST_ADDRSPACECAST:
      return pointers && types_.space(source) != types_.space(target);
    case bitc::CAST_TRUNC:
      return whole_from && whole_to && bits(from) > bits(to);
    case bitc::CAST_ZEXT:
    case bitc::CAST_SEXT:
      return whole_from && whole_to && bits(from) < bits(to);
    case bitc::CAST_FPTOUI:
    case bitc::CAST_FPTOSI:
      return floating_from && whole_to;
    case bitc::CAST_UITOFP:
    case bitc::CAST_SITOFP:
      return whole_from && floating_to;
    case bitc::CAST_FPTRUNC:
      return floating_from && floating_to && bits(from) > bits(to);
    case bitc::CAST_FPEXT:
      return floating_from && floating_to && bits(from) < bits(to);
    case bitc::CAST_PTRTOINT:
      return types_.is_pointer(source) && whole_to;
    case bitc::CAST_INTTOPTR:
      return whole_from && types_.is_pointer(target);
    default:
      return false;
  }
}

std::optional<uint64_t> ModuleChecker::constant_number(ValueRef value) const {
  auto search = [&](std::span<const Constant> pool) -> std::optional<uint64_t> {
    // In order of age until emission sorts them, and refs only grow.
    const auto at = std::ranges::lower_bound(pool, value, {}, &Constant::value);
    if (at == pool.end() || at->value != value) return std::nullopt;
    if (at->code == bitc::CST_CODE_NULL) return 0;
    if (at->code == bitc::CST_CODE_INTEGER) return module_.words_of(*at)[0] >> 1;
    return std::nullopt;
  };
  if (body_)
    if (auto number = search(body_->constants)) return number;
  return search(module_.constants);
}

// The first index steps over whole objects; the others go inside. A struct's must be a known number.
std::optional<TypeId> ModuleChecker::walk(TypeId source, std::span<const ValueRef> indices) const {
  TypeId at = source;
  for (size_t i = 1; i < indices.size(); ++i) {
    const TypeKind kind = types_[at].kind;
    uint64_t index = 0;
    if (kind == TypeKind::literal_struct || kind == TypeKind::named_struct) {
      const auto number = constant_number(indices[i]);
      if (!number) return std::nullopt;
      index = *number;
    }
    const auto inside = types_.inside(at, index);
    if (!inside) return std::nullopt;
    at = *inside;
  }
  return at;
}

void ModuleChecker::types() {
  for (TypeId id = 0; id < types_.size(); ++id)
    for (const TypeId sub : types_.subs(id))
      if (sub >= id) wrong(fmt::format("type {} refers forward to type {}", id, sub));
}

// ---- module level ---------------------------------------------------------------------------------------------------

void ModuleChecker::pool(std::span<const Constant> constants) {
  for (const Constant& constant : constants) known_[constant.value] = 1;
  for (const Constant& one : constants) constant(one);
}

void ModuleChecker::module_level() {
  auto global = [&](ValueRef value, TypeId type, llvm::StringRef name) {
    known_[value] = 1;
    const TypeId found = type_of(value);
    if (!types_.is_pointer(found) || types_.pointee(found) != type)
      wrong(fmt::format("'{}' has value type '{}' but is a '{}'", name.str(), types_.text(type), types_.text(found)));
  };
  for (const Variable& one : module_.variables) global(one.value, one.type, one.source->getName());
  for (const FunctionHeader& one : module_.functions) global(one.value, one.signature.function, one.name);
  for (const Alias& one : module_.aliases) global(one.value, one.type, one.source->getName());
  pool(module_.constants);
  for (const Variable& one : module_.variables)
    if (one.initializer != kNoValue)
      same(fmt::format("initialiser of '{}'", one.source->getName().str()), type_of(one.initializer), one.type);
  for (const Alias& one : module_.aliases)
    same(fmt::format("aliasee of '{}'", one.source->getName().str()), type_of(one.aliasee), type_of(one.value));
  for (const auto& value : module_.metadata.values())
    if (!known_[value.value]) wrong("metadata names a value that the module does not have");
}

// ---- functions ------------------------------------------------------------------------------------------------------

void ModuleChecker::body(const Body& body) {
  body_ = &body;
  const TypeId function = types_.pointee(type_of(body.self));
  const auto parts = types_.subs(function);
  same("return type", body.result, parts[0]);
  if (body.arguments.size() + 1 != parts.size()) wrong("parameter count differs from the function type");
  for (size_t i = 0; i < body.arguments.size() && !error_; ++i) {
    same(fmt::format("parameter {}", i), type_of(body.arguments[i]), parts[i + 1]);
    known_[body.arguments[i]] = 1;
  }
  pool(body.constants);
  auto each = [&](auto&& visit) {
    for (const Block& block : body.blocks) {
      for (uint32_t i = block.first; i < block.first + block.count && !error_; ++i) visit(module_.records[i]);
      for (const uint32_t i : block.edge)
        if (!error_) visit(module_.records[i]);
    }
  };
  each([&](const Record& one) { known_[one.result] = 1; });
  known_[kNoValue] = 0;
  each([&](const Record& one) { record(one); });
  for (const LocalMetadata& one : body.local_metadata)
    if (one.value != kNoValue && !known_[one.value]) wrong("debug info names a value that is not written");
  // Values of this function are no operands of another.
  for (const ValueRef argument : body.arguments) known_[argument] = 0;
  for (const Constant& one : body.constants) known_[one.value] = 0;
  for (const Block& block : body.blocks) {
    for (uint32_t i = block.first; i < block.first + block.count; ++i) known_[module_.records[i].result] = 0;
    for (const uint32_t i : block.edge) known_[module_.records[i].result] = 0;
  }
  record_ = nullptr;
  body_ = nullptr;
}

Result<void> ModuleChecker::run() {
  types();
  if (!error_) module_level();
  for (const Body& one : module_.bodies)
    if (!error_) body(one);
  if (error_) return tl::unexpected(std::move(*error_));
  return {};
}

Result<void> check_types(const TypedModule& module) {
  return ModuleChecker(module).run();
}

}  // namespace smelt::aot::bitcode
