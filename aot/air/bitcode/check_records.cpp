// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The typed check of instruction records.
#include "bitcode/checker.hpp"

#include "llvm/Bitcode/LLVMBitCodes.h"

namespace smelt::aot::bitcode {

namespace bitc = llvm::bitc;

// ---- fields ---------------------------------------------------------------------------------------------------------

ValueRef ModuleChecker::value() {
  const Field* field = peek();
  if (!field || field->kind == Field::literal || field->kind == Field::metadata ||
      field->kind == Field::local_metadata) {
    wrong(fmt::format("operand {} is not a value", at_));
    return kNoValue;
  }
  ++at_;
  if (!known_[field->value]) wrong(fmt::format("operand {} is a value that is not written", at_ - 1));
  return field->value;
}

uint64_t ModuleChecker::literal() {
  const Field* field = peek();
  if (!field || field->kind != Field::literal) {
    wrong(fmt::format("operand {} is not a literal", at_));
    return 0;
  }
  ++at_;
  return field->value;
}

TypeId ModuleChecker::pointee_of(ValueRef pointer, std::string_view what) {
  const TypeId type = types_.scalar_of(type_of(pointer));
  if (types_.is_pointer(type)) return types_.pointee(type);
  wrong(fmt::format("{} is '{}', must be a pointer", what, types_.text(type_of(pointer))));
  return type;
}

void ModuleChecker::result(TypeId wanted) {
  if (record_->result == kNoValue) return wrong("a record without its result");
  same("result", type_of(record_->result), wanted);
}

void ModuleChecker::no_result() {
  if (record_->result != kNoValue) wrong("a record with a result that it cannot have");
}

void ModuleChecker::record(const Record& record) {
  record_ = &record;
  fields_ = module_.fields_of(record);
  at_ = 0;
  switch (record.code) {
    case bitc::FUNC_CODE_INST_BINOP:
    case bitc::FUNC_CODE_INST_CMP2:
    case bitc::FUNC_CODE_INST_VSELECT:
      return binary();
    case bitc::FUNC_CODE_INST_UNOP:
    case bitc::FUNC_CODE_INST_FREEZE:
      return unary();
    case bitc::FUNC_CODE_INST_CAST:
      return cast();
    case bitc::FUNC_CODE_INST_ALLOCA:
    case bitc::FUNC_CODE_INST_LOAD:
    case bitc::FUNC_CODE_INST_LOADATOMIC:
    case bitc::FUNC_CODE_INST_STORE:
    case bitc::FUNC_CODE_INST_STOREATOMIC:
      return memory();
    case bitc::FUNC_CODE_INST_GEP:
      return gep();
    case bitc::FUNC_CODE_INST_CMPXCHG:
    case bitc::FUNC_CODE_INST_ATOMICRMW:
    case bitc::FUNC_CODE_INST_FENCE:
      return atomics();
    case bitc::FUNC_CODE_INST_CALL:
      return call();
    case bitc::FUNC_CODE_INST_PHI:
      return phi();
    case bitc::FUNC_CODE_INST_RET:
    case bitc::FUNC_CODE_INST_BR:
    case bitc::FUNC_CODE_INST_SWITCH:
    case bitc::FUNC_CODE_INST_UNREACHABLE:
      return branches();
    case bitc::FUNC_CODE_INST_EXTRACTELT:
    case bitc::FUNC_CODE_INST_INSERTELT:
    case bitc::FUNC_CODE_INST_SHUFFLEVEC:
      return vectors();
    case bitc::FUNC_CODE_INST_EXTRACTVAL:
    case bitc::FUNC_CODE_INST_INSERTVAL:
      return aggregates();
    default:
      return wrong(fmt::format("instruction record {} is not known", record.code));
  }
}

// ---- arithmetic -----------------------------------------------------------------------------------------------------

void ModuleChecker::binary() {
  const TypeId left = type_of(value()), right = type_of(value());
  if (!same("right operand", right, left)) return;
  if (record_->code == bitc::FUNC_CODE_INST_BINOP) {
    if (!is_integer(left) && !is_floating(left)) wrong(fmt::format("arithmetic on '{}'", types_.text(left)));
    literal();
    return result(left);
  }
  if (record_->code == bitc::FUNC_CODE_INST_VSELECT) {
    const TypeId condition = type_of(value());
    if (!is_boolean(condition) || (lanes(condition) != 0 && lanes(condition) != lanes(left)))
      wrong(fmt::format("condition of a select of '{}' is '{}'", types_.text(left), types_.text(condition)));
    return result(left);
  }
  literal();
  const TypeId scalar = types_.scalar_of(left);
  if (!is_integer(left) && !is_floating(left) && !types_.is_pointer(scalar))
    wrong(fmt::format("comparison of '{}'", types_.text(left)));
  if (record_->result == kNoValue) return wrong("a comparison without its result");
  const TypeId found = type_of(record_->result);
  if (!is_boolean(found) || lanes(found) != lanes(left))
    wrong(fmt::format("comparison of '{}' makes '{}'", types_.text(left), types_.text(found)));
}

void ModuleChecker::unary() {
  const TypeId operand = type_of(value());
  if (record_->code == bitc::FUNC_CODE_INST_UNOP && !is_floating(operand))
    wrong(fmt::format("fneg of '{}'", types_.text(operand)));
  result(operand);
}

void ModuleChecker::cast() {
  const TypeId from = type_of(value()), to = static_cast<TypeId>(literal());
  const uint64_t code = literal();
  result(to);
  if (!legal_cast(code, from, to))
    wrong(fmt::format("cast {} from '{}' to '{}'", code, types_.text(from), types_.text(to)));
}

// ---- memory ---------------------------------------------------------------------------------------------------------

void ModuleChecker::memory() {
  switch (record_->code) {
    case bitc::FUNC_CODE_INST_ALLOCA: {
      const TypeId element = static_cast<TypeId>(literal()), size = static_cast<TypeId>(literal());
      same("size of an alloca", type_of(value()), size);
      if (record_->result == kNoValue) return wrong("an alloca without its result");
      same("pointee of an alloca", pointee_of(record_->result, "an alloca"), element);
      return;
    }
    case bitc::FUNC_CODE_INST_LOAD:
    case bitc::FUNC_CODE_INST_LOADATOMIC: {
      const TypeId pointee = pointee_of(value(), "the address of a load");
      const TypeId type = static_cast<TypeId>(literal());
      same("pointee of a load's address", pointee, type);
      return result(type);
    }
    default: {
      const TypeId pointee = pointee_of(value(), "the address of a store");
      same("pointee of a store's address", pointee, type_of(value()));
      return no_result();
    }
  }
}

void ModuleChecker::gep() {
  literal();
  const TypeId source = static_cast<TypeId>(literal());
  const ValueRef base = value();
  const TypeId pointer = types_.scalar_of(type_of(base));
  if (!same("pointee of a getelementptr's base", pointee_of(base, "the base of a getelementptr"), source)) return;
  llvm::SmallVector<ValueRef, 8> indices;
  uint64_t count = lanes(type_of(base));
  while (more() && !error_) {
    const ValueRef index = value();
    indices.push_back(index);
    if (!is_integer(type_of(index)))
      wrong(fmt::format("index of a getelementptr is '{}'", types_.text(type_of(index))));
    count = std::max(count, lanes(type_of(index)));
  }
  if (error_) return;
  const auto end = walk(source, indices);
  if (!end) return wrong(fmt::format("a getelementptr leaves '{}'", types_.text(source)));
  if (record_->result == kNoValue) return wrong("a getelementptr without its result");
  const TypeId found = type_of(record_->result), scalar = types_.scalar_of(found);
  if (!types_.is_pointer(scalar) || types_.space(scalar) != types_.space(pointer) || lanes(found) != count)
    return wrong(fmt::format("a getelementptr from '{}' makes '{}'", types_.text(type_of(base)), types_.text(found)));
  same("pointee of a getelementptr", types_.pointee(scalar), *end);
}

void ModuleChecker::atomics() {
  if (record_->code == bitc::FUNC_CODE_INST_FENCE) return no_result();
  const TypeId pointee = pointee_of(value(), "the address of an atomic");
  const TypeId operand = type_of(value());
  same("pointee of an atomic's address", pointee, operand);
  if (record_->code == bitc::FUNC_CODE_INST_ATOMICRMW) return result(operand);
  same("new value of a cmpxchg", type_of(value()), operand);
  if (record_->result == kNoValue) return wrong("a cmpxchg without its result");
  const auto parts = types_.subs(type_of(record_->result));
  if (parts.size() != 2 || parts[0] != operand || !is_boolean(parts[1]))
    wrong(fmt::format("a cmpxchg of '{}' makes '{}'", types_.text(operand), types_.text(type_of(record_->result))));
}

// ---- control flow ---------------------------------------------------------------------------------------------------

void ModuleChecker::call() {
  literal();  // attributes
  const uint64_t word = literal();
  if (word & uint64_t{1} << bitc::CALL_FMF) literal();
  const TypeId function = static_cast<TypeId>(literal());
  if (error_) return;
  if (!types_.is(function, TypeKind::function)) return wrong("a call without a function type");
  const ValueRef callee = value();
  if (!same("pointee of the called value", pointee_of(callee, "the called value"), function)) return;
  const auto parts = types_.subs(function);
  for (size_t i = 1; i < parts.size() && !error_; ++i) {
    if (types_.is(parts[i], TypeKind::metadata)) {
      const Field* field = peek();
      if (!field || (field->kind != Field::metadata && field->kind != Field::local_metadata))
        return wrong(fmt::format("argument {} is not metadata", i - 1));
      ++at_;
      continue;
    }
    same(fmt::format("argument {}", i - 1), type_of(value()), parts[i]);
  }
  if (more() && types_[function].count == 0) return wrong("more arguments than parameters");
  while (more() && !error_) value();
  if (types_.is(parts[0], TypeKind::void_type)) return no_result();
  result(parts[0]);
}

void ModuleChecker::phi() {
  const TypeId type = static_cast<TypeId>(literal());
  result(type);
  // Fast-math flags make the operand count even.
  const size_t end = fields_.size() % 2 == 0 ? fields_.size() - 1 : fields_.size();
  while (at_ < end && !error_) {
    same("incoming value of a phi", type_of(value()), type);
    if (literal() >= body_->blocks.size()) wrong("a phi names a block that does not exist");
  }
}

void ModuleChecker::branches() {
  no_result();
  auto block = [&] {
    if (literal() >= body_->blocks.size()) wrong("a branch to a block that does not exist");
  };
  switch (record_->code) {
    case bitc::FUNC_CODE_INST_RET:
      if (more()) {
        same("returned value", type_of(value()), body_->result);
      } else if (!types_.is(body_->result, TypeKind::void_type)) {
        wrong(fmt::format("nothing is returned, must be '{}'", types_.text(body_->result)));
      }
      return;
    case bitc::FUNC_CODE_INST_BR:
      block();
      if (!more()) return;
      block();
      if (const TypeId condition = type_of(value()); !is_boolean(condition) || lanes(condition) != 0)
        wrong(fmt::format("a branch on '{}'", types_.text(condition)));
      return;
    case bitc::FUNC_CODE_INST_SWITCH: {
      const TypeId type = static_cast<TypeId>(literal());
      same("condition of a switch", type_of(value()), type);
      block();
      while (more() && !error_) {
        same("case of a switch", type_of(value()), type);
        block();
      }
      return;
    }
    default:
      return;
  }
}

// ---- vectors and aggregates -----------------------------------------------------------------------------------------

void ModuleChecker::vectors() {
  const TypeId vector = type_of(value());
  if (lanes(vector) == 0) return wrong(fmt::format("a vector operation on '{}'", types_.text(vector)));
  const TypeId element = types_.scalar_of(vector);
  switch (record_->code) {
    case bitc::FUNC_CODE_INST_EXTRACTELT:
      if (!is_integer(type_of(value()))) wrong("the index of an extractelement is not an integer");
      return result(element);
    case bitc::FUNC_CODE_INST_INSERTELT:
      same("element of an insertelement", type_of(value()), element);
      if (!is_integer(type_of(value()))) wrong("the index of an insertelement is not an integer");
      return result(vector);
    default: {
      same("second vector of a shuffle", type_of(value()), vector);
      const TypeId mask = type_of(value());
      const TypeId found = record_->result == kNoValue ? vector : type_of(record_->result);
      if (lanes(mask) == 0 || !is_integer(mask) || lanes(found) != lanes(mask) || types_.scalar_of(found) != element)
        wrong(fmt::format("a shuffle of '{}' by '{}' makes '{}'", types_.text(vector), types_.text(mask),
                          types_.text(found)));
      return;
    }
  }
}

void ModuleChecker::aggregates() {
  const TypeId aggregate = type_of(value());
  const bool inserts = record_->code == bitc::FUNC_CODE_INST_INSERTVAL;
  const TypeId element = inserts ? type_of(value()) : 0;
  TypeId at = aggregate;
  while (more() && !error_) {
    const uint64_t index = literal();
    const Type& shape = types_[at];
    const auto inside = shape.kind == TypeKind::vector ? std::nullopt : types_.inside(at, index);
    if (!inside || (shape.kind == TypeKind::array && index >= shape.count))
      return wrong(fmt::format("index {} leaves '{}'", index, types_.text(at)));
    at = *inside;
  }
  if (error_) return;
  if (!inserts) return result(at);
  same("element of an insertvalue", element, at);
  result(aggregate);
}

}  // namespace smelt::aot::bitcode
