// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/air_name.hpp"

#include "ops/types.hpp"

namespace smelt::aot::cpu {

std::optional<AirName> parse_air_name(llvm::StringRef name) {
  if (!name.consume_front("air.")) return std::nullopt;
  AirName result;
  auto [operation, rest] = name.split('.');
  result.operation = operation;
  result.fast = result.operation.consume_front("fast_");
  if (!rest.empty()) rest.split(result.parts, '.');
  return result;
}

std::optional<OperandType> parse_operand_type(llvm::StringRef sign, llvm::StringRef type) {
  const std::optional<air::AirType> read = air::parse_air_type(type);
  if (!read || read->is_pointer()) return std::nullopt;
  const auto kind = [&] {
    switch (read->kind) {
      case air::AirType::Kind::half:
        return ElementKind::half;
      case air::AirType::Kind::bfloat:
        return ElementKind::bfloat;
      case air::AirType::Kind::single:
        return ElementKind::single;
      default:
        return sign == "s" ? ElementKind::signed_integer : ElementKind::unsigned_integer;
    }
  };
  return OperandType{{kind(), read->bits}, read->lanes};
}

std::optional<OperandType> parse_trailing_type(const AirName& name) {
  if (name.parts.empty()) return std::nullopt;
  const llvm::StringRef sign = name.parts.size() > 1 ? name.parts[name.parts.size() - 2] : llvm::StringRef();
  return parse_operand_type(sign, name.parts.back());
}

}  // namespace smelt::aot::cpu
