#include "cpu/lower/air_name.hpp"

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

std::optional<AirType> parse_air_type(llvm::StringRef kind, llvm::StringRef type) {
  AirType result;
  if (type.consume_front("v")) {
    unsigned components = 0;
    if (type.consumeInteger(10, components) || components < 2 || components > 64) return std::nullopt;
    result.components = static_cast<uint8_t>(components);
  }
  if (type == "f32") {
    result.element = {ElementKind::single, 32};
  } else if (type == "f16") {
    result.element = {ElementKind::half, 16};
  } else if (type == "bf16") {
    result.element = {ElementKind::bfloat, 16};
  } else {
    unsigned bits = 0;
    if (!type.consume_front("i") || type.getAsInteger(10, bits)) return std::nullopt;
    if (bits != 1 && bits != 8 && bits != 16 && bits != 32 && bits != 64) return std::nullopt;
    result.element = {kind == "s" ? ElementKind::signed_integer : ElementKind::unsigned_integer,
                      static_cast<uint8_t>(bits)};
  }
  return result;
}

std::optional<AirType> parse_trailing_type(const AirName& name) {
  if (name.parts.empty()) return std::nullopt;
  const llvm::StringRef kind = name.parts.size() > 1 ? name.parts[name.parts.size() - 2] : llvm::StringRef();
  return parse_air_type(kind, name.parts.back());
}

}  // namespace smelt::aot::cpu
