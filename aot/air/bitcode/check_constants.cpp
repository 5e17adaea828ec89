// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The typed check of constants: each record's operands against its own type.
#include "bitcode/checker.hpp"
#include "bitcode/codes.hpp"

#include "llvm/Bitcode/LLVMBitCodes.h"

namespace smelt::aot::bitcode {

namespace bitc = llvm::bitc;

void ModuleChecker::constant(const Constant& constant) {
  if (error_) return;
  if (!constant.payload) {
    for (const Field& field : module_.fields_of(constant)) {
      if (field.kind != Field::absolute) continue;
      if (!known_[field.value]) return wrong("a constant refers to a value that is not written");
      if (module_.values[field.value].depth >= module_.values[constant.value].depth)
        return wrong("a constant comes before its operand");
    }
  }
  switch (constant.code) {
    case bitc::CST_CODE_CE_CAST:
      return constant_cast(constant);
    case kConstantGep:
    case kConstantInboundsGep:
      return constant_gep(constant);
    default:
      return constant.payload ? words(constant) : constant_parts(constant);
  }
}

void ModuleChecker::words(const Constant& constant) {
  const TypeId type = type_of(constant.value);
  const Type& shape = types_[type];
  const size_t count = module_.words_of(constant).size();
  auto bad = [&](std::string_view what) { wrong(fmt::format("{} constant of type '{}'", what, types_.text(type))); };
  switch (constant.code) {
    case bitc::CST_CODE_NULL:
    case bitc::CST_CODE_UNDEF:
    case bitc::CST_CODE_POISON:
      if (shape.kind == TypeKind::void_type || shape.kind == TypeKind::function || shape.kind == TypeKind::metadata)
        bad("empty");
      return;
    case bitc::CST_CODE_INTEGER:
      if (shape.kind != TypeKind::integer || shape.count > 64 || count != 1) bad("integer");
      return;
    case bitc::CST_CODE_WIDE_INTEGER:
      if (shape.kind != TypeKind::integer || shape.count <= 64) bad("wide integer");
      return;
    case bitc::CST_CODE_FLOAT:
      if (!is_floating(type) || lanes(type) != 0) bad("floating-point");
      return;
    case bitc::CST_CODE_STRING:
    case bitc::CST_CODE_CSTRING: {
      const size_t length = count + (constant.code == bitc::CST_CODE_CSTRING);
      if (shape.kind != TypeKind::array || shape.count != length || bits(*types_.inside(type, 0)) != 8) bad("string");
      return;
    }
    case bitc::CST_CODE_DATA: {
      const bool sequence = shape.kind == TypeKind::array || shape.kind == TypeKind::vector;
      if (!sequence || shape.count != count || bits(*types_.inside(type, 0)) == 0) bad("packed");
      return;
    }
    default:
      return wrong(fmt::format("constant record {} is not known", constant.code));
  }
}

void ModuleChecker::constant_cast(const Constant& constant) {
  const auto fields = module_.fields_of(constant);
  if (fields.size() != 3) return wrong("a constant cast takes three operands");
  const TypeId from = type_of(fields[2].value), to = type_of(constant.value);
  same("operand of a constant cast", from, fields[1].value);
  if (!legal_cast(fields[0].value, from, to))
    wrong(fmt::format("constant cast {} from '{}' to '{}'", fields[0].value, types_.text(from), types_.text(to)));
}

void ModuleChecker::constant_gep(const Constant& constant) {
  const auto fields = module_.fields_of(constant);
  if (fields.size() < 3 || fields.size() % 2 == 0) return wrong("a constant getelementptr takes pairs of operands");
  const TypeId source = fields[0].value;
  std::vector<ValueRef> operands;
  for (size_t i = 1; i < fields.size(); i += 2) {
    if (!same("operand of a constant getelementptr", type_of(fields[i + 1].value), fields[i].value)) return;
    operands.push_back(fields[i + 1].value);
  }
  const TypeId base = types_.scalar_of(type_of(operands[0]));
  if (!types_.is_pointer(base)) return wrong("the base of a constant getelementptr is not a pointer");
  if (!same("pointee of a constant getelementptr's base", types_.pointee(base), source)) return;
  const auto end = walk(source, std::span(operands).subspan(1));
  if (!end) return wrong(fmt::format("a constant getelementptr goes outside '{}'", types_.text(source)));
  const TypeId result = types_.scalar_of(type_of(constant.value));
  if (!types_.is_pointer(result)) return wrong("a constant getelementptr does not make a pointer");
  same("pointee of a constant getelementptr", types_.pointee(result), *end);
}

void ModuleChecker::constant_parts(const Constant& constant) {
  const TypeId type = type_of(constant.value);
  const auto fields = module_.fields_of(constant);
  switch (constant.code) {
    case bitc::CST_CODE_AGGREGATE: {
      const Type& shape = types_[type];
      const bool record = shape.kind == TypeKind::literal_struct || shape.kind == TypeKind::named_struct;
      if (fields.size() != (record ? shape.sub_count : shape.count))
        return wrong(fmt::format("{} parts in a constant of type '{}'", fields.size(), types_.text(type)));
      for (size_t i = 0; i < fields.size() && !error_; ++i) {
        const auto part = types_.inside(type, i);
        if (!part) return wrong(fmt::format("a constant of type '{}' has no parts", types_.text(type)));
        same(fmt::format("part {} of a constant '{}'", i, types_.text(type)), type_of(fields[i].value), *part);
      }
      return;
    }
    case bitc::CST_CODE_CE_BINOP:
      if (fields.size() < 3) return wrong("a constant operation takes three operands");
      same("left side of a constant operation", type_of(fields[1].value), type);
      same("right side of a constant operation", type_of(fields[2].value), type);
      return;
    case bitc::CST_CODE_CE_EXTRACTELT:
      if (fields.size() != 4) return wrong("a constant extractelement takes four operands");
      same("vector of a constant extractelement", type_of(fields[1].value), fields[0].value);
      same("index of a constant extractelement", type_of(fields[3].value), fields[2].value);
      same("result of a constant extractelement", type, types_.scalar_of(fields[0].value));
      return;
    case bitc::CST_CODE_CE_INSERTELT:
      if (fields.size() != 4) return wrong("a constant insertelement takes four operands");
      same("vector of a constant insertelement", type_of(fields[0].value), type);
      same("element of a constant insertelement", type_of(fields[1].value), types_.scalar_of(type));
      same("index of a constant insertelement", type_of(fields[3].value), fields[2].value);
      return;
    default:
      return wrong(fmt::format("constant record {} is not known", constant.code));
  }
}

}  // namespace smelt::aot::bitcode
