// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants, each in exactly the type that its use wants: one `@g` may be wanted as i8*, as float*, and natively.
// Keys are therefore (constant, wanted type). See docs/design/bitcode-writer.md section 5.
#include "bitcode/codes.hpp"
#include "bitcode/lowering.hpp"

#include "llvm/Bitcode/LLVMBitCodes.h"

namespace smelt::aot::bitcode {
namespace {

namespace bitc = llvm::bitc;
constexpr unsigned kDeepestConstant = 512;

Field literal(uint64_t value) {
  return {Field::literal, static_cast<uint32_t>(value)};
}
Field reference(ValueRef value) {
  return {Field::absolute, value};
}

}  // namespace

ValueRef Lowering::known_constant(const llvm::Constant* constant, TypeId want, Lanes lanes) const {
  const ConstantKey key{constant, want | static_cast<uint64_t>(lanes) << 32};
  if (in_body())
    if (auto at = body_constants_.find(key); at != body_constants_.end()) return at->second;
  auto at = module_constants_.find(key);
  return at == module_constants_.end() ? kNoValue : at->second;
}

ValueRef Lowering::remember(const llvm::Constant* constant, TypeId want, Lanes lanes, ValueRef value) {
  (in_body() ? body_constants_ : module_constants_)[{constant, want | static_cast<uint64_t>(lanes) << 32}] = value;
  return value;
}

ValueRef Lowering::make_constant(uint32_t code, TypeId type, std::span<const Field> fields) {
  const ValueRef value = new_value(type);
  uint32_t depth = 0;
  for (const Field& field : fields)
    if (field.kind == Field::absolute) depth = std::max(depth, out_.values[field.value].depth);
  out_.values[value].depth = depth + 1;
  pool().push_back(
      {code, value, static_cast<uint32_t>(out_.constant_fields.size()), static_cast<uint32_t>(fields.size()), false});
  out_.constant_fields.insert(out_.constant_fields.end(), fields.begin(), fields.end());
  return value;
}

ValueRef Lowering::make_words(uint32_t code, TypeId type, std::span<const uint64_t> words) {
  const ValueRef value = new_value(type);
  out_.values[value].depth = 1;
  pool().push_back(
      {code, value, static_cast<uint32_t>(out_.constant_words.size()), static_cast<uint32_t>(words.size()), true});
  out_.constant_words.insert(out_.constant_words.end(), words.begin(), words.end());
  return value;
}

ValueRef Lowering::constant(const llvm::Constant* constant, TypeId want, Lanes lanes) {
  constant = llvm::cast<llvm::Constant>(skip_no_op(constant));
  if (llvm::isa<llvm::GlobalValue>(constant)) {
    auto at = globals_.find(constant);
    if (at == globals_.end()) {
      unsupported(fmt::format("a use of '{}', which is not written", constant->getName().str()));
      return kNoValue;
    }
    if (type_of(at->second) == want) return at->second;
  }
  if (const ValueRef known = known_constant(constant, want, lanes)) return known;
  if (depth_ >= kDeepestConstant) {
    unsupported(fmt::format("a constant is nested more than {} deep", kDeepestConstant));
    return kNoValue;
  }
  ++depth_;
  const ValueRef built = build_constant(constant, want, lanes);
  --depth_;
  return remember(constant, want, lanes, built);
}

ValueRef Lowering::build_constant(const llvm::Constant* constant, TypeId want, Lanes lanes) {
  if (llvm::isa<llvm::PoisonValue>(constant)) {
    const bool undef = options_.below_air_2_6 || lanes == Lanes::poison_as_undef;
    return make_words(undef ? bitc::CST_CODE_UNDEF : bitc::CST_CODE_POISON, want, {});
  }
  if (llvm::isa<llvm::UndefValue>(constant)) return make_words(bitc::CST_CODE_UNDEF, want, {});
  if (constant->isNullValue() && !constant->getType()->isTokenTy()) return make_words(bitc::CST_CODE_NULL, want, {});
  const bool scalar = !constant->getType()->isVectorTy();  // LLVM 19 may hold a splat as one ConstantInt or ConstantFP
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(constant); number && scalar) {
    const llvm::APInt& value = number->getValue();
    llvm::SmallVector<uint64_t, 4> words;
    if (value.getBitWidth() <= 64) {
      words.push_back(signed_vbr(static_cast<uint64_t>(value.getSExtValue())));
      return make_words(bitc::CST_CODE_INTEGER, want, words);
    }
    for (unsigned i = 0; i < value.getActiveWords(); ++i) words.push_back(signed_vbr(value.getRawData()[i]));
    return make_words(bitc::CST_CODE_WIDE_INTEGER, want, words);
  }
  if (const auto* number = llvm::dyn_cast<llvm::ConstantFP>(constant); number && scalar) {
    const llvm::APInt bits = number->getValueAPF().bitcastToAPInt();
    if (bits.getBitWidth() > 64) {
      unsupported("a floating-point constant of more than 64 bits");
      return kNoValue;
    }
    const uint64_t words[] = {bits.getZExtValue()};
    return make_words(bitc::CST_CODE_FLOAT, want, words);
  }
  if (const auto* data = llvm::dyn_cast<llvm::ConstantDataSequential>(constant)) return build_data(*data, want);
  if (llvm::isa<llvm::ConstantAggregate>(constant) || (!scalar && llvm::isa<llvm::ConstantData>(constant))) {
    llvm::SmallVector<Field, 16> fields;
    const unsigned count =
        scalar ? constant->getNumOperands() : llvm::cast<llvm::FixedVectorType>(constant->getType())->getNumElements();
    for (unsigned i = 0; i < count; ++i) {
      const auto element = types_.inside(want, i);
      if (!element) return kNoValue;
      fields.push_back(reference(this->constant(constant->getAggregateElement(i), *element, lanes)));
    }
    return make_constant(bitc::CST_CODE_AGGREGATE, want, fields);
  }
  if (constant->getType()->isPtrOrPtrVectorTy()) return pointer_constant(constant, want);
  if (const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(constant)) return build_expression(*expression, want);
  unsupported(fmt::format("constant '{}'", shown(*constant)));  // blockaddress, dso_local_equivalent, tokens, ...
  return kNoValue;
}

ValueRef Lowering::build_data(const llvm::ConstantDataSequential& data, TypeId want) {
  llvm::SmallVector<uint64_t, 64> words;
  if (data.isString(8)) {
    const bool terminated = data.isCString();
    for (const char c : terminated ? data.getAsCString() : data.getAsString())
      words.push_back(static_cast<unsigned char>(c));
    return make_words(terminated ? bitc::CST_CODE_CSTRING : bitc::CST_CODE_STRING, want, words);
  }
  const bool integers = data.getElementType()->isIntegerTy();
  for (unsigned i = 0; i < data.getNumElements(); ++i) {
    words.push_back(integers ? data.getElementAsInteger(i)
                             : data.getElementAsAPFloat(i).bitcastToAPInt().getZExtValue());
  }
  return make_words(bitc::CST_CODE_DATA, want, words);
}

// ---- expressions ----------------------------------------------------------------------------------------------------

// Its own type is the wanted one, or can be made so by a constant bitcast.
ValueRef Lowering::pointer_constant(const llvm::Constant* constant, TypeId want) {
  const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(constant);
  if (expression && expression->getOpcode() == llvm::Instruction::IntToPtr) {
    // A number may become any pointer at once. Apple's constexpr samplers have this shape; keep their bits in sight.
    const auto* number = llvm::cast<llvm::Constant>(expression->getOperand(0));
    const ValueRef operand = this->constant(number, types_.of(number->getType()));
    const Field fields[] = {literal(bitc::CAST_INTTOPTR), literal(type_of(operand)), reference(operand)};
    return make_constant(bitc::CST_CODE_CE_CAST, want, fields);
  }
  const ValueRef native = native_pointer(constant);
  if (native == kNoValue || type_of(native) == want) return native;
  ++statistics_.constant_views;
  const Field fields[] = {literal(bitc::CAST_BITCAST), literal(type_of(native)), reference(native)};
  return make_constant(bitc::CST_CODE_CE_CAST, want, fields);
}

ValueRef Lowering::native_pointer(const llvm::Constant* constant) {
  if (auto at = globals_.find(constant); at != globals_.end()) return at->second;
  if (const auto* gep = llvm::dyn_cast<llvm::GEPOperator>(constant)) {
    const TypeId result = repointed(gep->getType(), types_.of(gep->getResultElementType()));
    if (const ValueRef known = known_constant(constant, result, Lanes::as_they_are)) return known;
    const TypeId source = types_.of(gep->getSourceElementType());
    llvm::SmallVector<Field, 10> fields{literal(source)};
    auto operand = [&](const llvm::Value* value, TypeId want) {
      const ValueRef ref = this->constant(llvm::cast<llvm::Constant>(value), want);
      fields.append({literal(type_of(ref)), reference(ref)});
    };
    operand(gep->getPointerOperand(), repointed(gep->getPointerOperandType(), source));
    for (const llvm::Use& index : gep->indices()) operand(index.get(), types_.of(index->getType()));
    return remember(constant, result, Lanes::as_they_are,
                    make_constant(gep->isInBounds() ? kConstantInboundsGep : kConstantGep, result, fields));
  }
  const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(constant);
  const auto code = expression ? cast_code(expression->getOpcode()) : std::nullopt;
  if (!code) {
    unsupported(fmt::format("pointer constant '{}'", shown(*constant)));
    return kNoValue;
  }
  const TypeId result = types_.of(constant->getType());
  if (const ValueRef known = known_constant(constant, result, Lanes::as_they_are)) return known;
  const auto* inner = llvm::cast<llvm::Constant>(skip_no_op(expression->getOperand(0)));
  const ValueRef operand = this->constant(inner, types_.of(inner->getType()));
  const Field fields[] = {literal(*code), literal(type_of(operand)), reference(operand)};
  return remember(constant, result, Lanes::as_they_are, make_constant(bitc::CST_CODE_CE_CAST, result, fields));
}

// Expressions whose result is no pointer.
ValueRef Lowering::build_expression(const llvm::ConstantExpr& expression, TypeId want) {
  auto operand = [&](unsigned i) {
    const auto* inner = llvm::cast<llvm::Constant>(skip_no_op(expression.getOperand(i)));
    return constant(inner, types_.of(inner->getType()));
  };
  llvm::SmallVector<Field, 6> fields;
  auto typed = [&](ValueRef value) { fields.append({literal(type_of(value)), reference(value)}); };
  if (const auto code = cast_code(expression.getOpcode())) {
    const ValueRef value = operand(0);
    fields.push_back(literal(*code));
    typed(value);
    return make_constant(bitc::CST_CODE_CE_CAST, want, fields);
  }
  if (const auto code = binary_code(expression.getOpcode())) {
    const ValueRef left = operand(0), right = operand(1);
    fields.append({literal(*code), reference(left), reference(right)});
    if (const uint32_t flags = flags_of(expression)) fields.push_back(literal(flags));
    return make_constant(bitc::CST_CODE_CE_BINOP, want, fields);
  }
  switch (expression.getOpcode()) {
    case llvm::Instruction::ExtractElement: {
      const ValueRef vector = operand(0), index = operand(1);
      typed(vector);
      typed(index);
      return make_constant(bitc::CST_CODE_CE_EXTRACTELT, want, fields);
    }
    case llvm::Instruction::InsertElement: {
      const ValueRef vector = operand(0), element = operand(1), index = operand(2);
      fields.append({reference(vector), reference(element)});
      typed(index);
      return make_constant(bitc::CST_CODE_CE_INSERTELT, want, fields);
    }
    default:
      unsupported(fmt::format("constant expression '{}'", shown(expression)));
      return kNoValue;
  }
}

}  // namespace smelt::aot::bitcode
