// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ops/types.hpp"

#include "llvm/IR/DerivedTypes.h"

#include <fmt/format.h>

namespace smelt::aot::air {
namespace {

std::optional<AirType> parse_scalar(std::string_view text) {
  using Kind = AirType::Kind;
  if (text == "f16") return AirType{.kind = Kind::half, .bits = 16};
  if (text == "bf16") return AirType{.kind = Kind::bfloat, .bits = 16};
  if (text == "f32") return AirType{.kind = Kind::single, .bits = 32};
  for (const unsigned bits : {1u, 8u, 16u, 32u, 64u})
    if (text == fmt::format("i{}", bits)) return AirType{.kind = Kind::integer, .bits = static_cast<uint8_t>(bits)};
  return std::nullopt;
}

}  // namespace

AirType AirType::lane() const {
  return with_lanes(1);
}

AirType AirType::with_lanes(uint8_t count) const {
  AirType type = *this;
  type.lanes = count;
  return type;
}

AirType AirType::pointer_in(uint8_t address_space) const {
  AirType type = *this;
  ++type.indirections;
  type.space = address_space;
  return type;
}

std::optional<AirType> parse_air_type(std::string_view name) {
  llvm::StringRef text = name;
  if (text.consume_front("p")) {
    unsigned space = 0;
    if (text.consumeInteger(10, space) || space > 9) return std::nullopt;
    const std::optional<AirType> pointee = parse_air_type(text);
    if (!pointee || pointee->is_pointer()) return std::nullopt;
    return pointee->pointer_in(static_cast<uint8_t>(space));
  }
  unsigned lanes = 1;
  if (text.consume_front("v") && (text.consumeInteger(10, lanes) || lanes < 2 || lanes > 64)) return std::nullopt;
  const std::optional<AirType> scalar = parse_scalar(text);
  if (!scalar) return std::nullopt;
  return scalar->with_lanes(static_cast<uint8_t>(lanes));
}

std::string spell(const AirType& type) {
  std::string text = type.is_pointer() ? fmt::format("p{}", type.space) : std::string();
  if (type.lanes > 1) text += fmt::format("v{}", type.lanes);
  switch (type.kind) {
    case AirType::Kind::nothing:
      return "void";
    case AirType::Kind::integer:
      return text + fmt::format("i{}", type.bits);
    case AirType::Kind::half:
      return text + "f16";
    case AirType::Kind::bfloat:
      return text + "bf16";
    case AirType::Kind::single:
      return text + "f32";
    case AirType::Kind::handle:
      return text + std::string(type.handle_name);
  }
  return text;
}

std::string typed_text(const AirType& type) {
  std::string text;
  switch (type.kind) {
    case AirType::Kind::nothing:
      text = "void";
      break;
    case AirType::Kind::integer:
      text = fmt::format("i{}", type.bits);
      break;
    case AirType::Kind::half:
      text = "half";
      break;
    case AirType::Kind::bfloat:
      text = "bfloat";
      break;
    case AirType::Kind::single:
      text = "float";
      break;
    case AirType::Kind::handle:
      text = fmt::format("%struct._{}_t", type.handle_name);
      break;
  }
  if (type.lanes > 1) text = fmt::format("<{} x {}>", type.lanes, text);
  if (type.with_residency) text = fmt::format("{{ {}, i8 }}", text);
  for (unsigned level = 1; level <= type.indirections; ++level)
    text += level == type.indirections && type.space != 0 ? fmt::format(" addrspace({})*", type.space) : "*";
  return text;
}

llvm::Type* llvm_type(const AirType& type, llvm::LLVMContext& context) {
  if (type.is_pointer()) return llvm::PointerType::get(context, type.space);
  llvm::Type* result = nullptr;
  switch (type.kind) {
    case AirType::Kind::nothing:
      return llvm::Type::getVoidTy(context);
    case AirType::Kind::integer:
      result = llvm::Type::getIntNTy(context, type.bits);
      break;
    case AirType::Kind::half:
      result = llvm::Type::getHalfTy(context);
      break;
    case AirType::Kind::bfloat:
      result = llvm::Type::getBFloatTy(context);
      break;
    case AirType::Kind::single:
      result = llvm::Type::getFloatTy(context);
      break;
    case AirType::Kind::handle:
      return llvm::PointerType::get(context, type.space);  // never by value
  }
  if (type.lanes > 1) result = llvm::FixedVectorType::get(result, type.lanes);
  if (type.with_residency) result = llvm::StructType::get(result, llvm::Type::getInt8Ty(context));
  return result;
}

std::optional<AirType> air_type(const llvm::Type* type) {
  using Kind = AirType::Kind;
  uint8_t lanes = 1;
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    if (vector->getNumElements() < 2 || vector->getNumElements() > 64) return std::nullopt;
    lanes = static_cast<uint8_t>(vector->getNumElements());
    type = vector->getElementType();
  }
  if (type->isHalfTy()) return AirType{.kind = Kind::half, .bits = 16, .lanes = lanes};
  if (type->isBFloatTy()) return AirType{.kind = Kind::bfloat, .bits = 16, .lanes = lanes};
  if (type->isFloatTy()) return AirType{.kind = Kind::single, .bits = 32, .lanes = lanes};
  if (!type->isIntegerTy()) return std::nullopt;
  const unsigned bits = type->getIntegerBitWidth();
  if (bits != 1 && bits != 8 && bits != 16 && bits != 32 && bits != 64) return std::nullopt;
  return AirType{.kind = Kind::integer, .bits = static_cast<uint8_t>(bits), .lanes = lanes};
}

}  // namespace smelt::aot::air
