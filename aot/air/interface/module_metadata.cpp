// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "interface/module_metadata.hpp"

#include "smelt/aot/simulators.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/VersionTuple.h"

namespace smelt::aot::air {
namespace {

/// The version in the first node of a list, from operand `first` on.
std::optional<Version> version_in(const llvm::Module& module, llvm::StringRef list_name, unsigned first) {
  const llvm::NamedMDNode* list = module.getNamedMetadata(list_name);
  if (!list || list->getNumOperands() == 0) return std::nullopt;
  const llvm::MDNode* node = list->getOperand(0);
  uint16_t parts[3] = {};
  for (unsigned i = 0; i < 3 && first + i < node->getNumOperands(); ++i) {
    const auto* value = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(node->getOperand(first + i));
    if (!value || value->getValue().ugt(0xFFFF)) return std::nullopt;
    parts[i] = static_cast<uint16_t>(value->getZExtValue());
  }
  return Version{parts[0], parts[1], parts[2]};
}

}  // namespace

std::optional<Version> air_version(const llvm::Module& module) {
  return version_in(module, "air.version", 0);
}

std::optional<Version> language_version(const llvm::Module& module) {
  return version_in(module, "air.language_version", 1);
}

bool made_by_apple(const llvm::Module& module) {
  const llvm::NamedMDNode* ident = module.getNamedMetadata("llvm.ident");
  if (!ident || ident->getNumOperands() == 0 || ident->getOperand(0)->getNumOperands() == 0) return false;
  const auto* text = llvm::dyn_cast_or_null<llvm::MDString>(ident->getOperand(0)->getOperand(0));
  return text && text->getString().starts_with("Apple metal");
}

std::optional<TripleParts> parse_triple(std::string_view triple) {
  TripleParts parts;
  llvm::StringRef text = triple;
  if (!text.consume_front("air64")) return std::nullopt;
  if (text.consume_front("_v")) {
    uint16_t digits = 0;
    if (text.consumeInteger(10, digits) || digits < 10) return std::nullopt;
    parts.arch_air = Version{static_cast<uint16_t>(digits / 10), static_cast<uint16_t>(digits % 10)};
  }
  if (!text.consume_front("-apple-")) return std::nullopt;
  if (text.consume_front("macosx"))
    parts.platform = Platform::macos;
  else if (text.consume_front("ios"))
    parts.platform = Platform::ios;
  else if (text.consume_front("tvos"))
    parts.platform = Platform::tvos;
  else
    return std::nullopt;
  const auto [version, environment] = text.split('-');
  llvm::VersionTuple os;
  if (os.tryParse(version)) return std::nullopt;
  const unsigned numbers[] = {os.getMajor(), os.getMinor().value_or(0), os.getSubminor().value_or(0)};
  if (os.getBuild() || llvm::any_of(numbers, [](unsigned number) { return number > 0xFFFF; })) return std::nullopt;
  parts.os = {static_cast<uint16_t>(numbers[0]), static_cast<uint16_t>(numbers[1]), static_cast<uint16_t>(numbers[2])};
  parts.simulator = environment == "simulator";
  if (text.size() != version.size() && !parts.simulator) return std::nullopt;
  return parts;
}

bool serves(std::string_view triple, const Target& target) {
  const std::optional<TripleParts> parts = parse_triple(triple);
  return parts && parts->platform == target.platform && parts->simulator == is_simulator(target) &&
         parts->os.major == target.os.major && parts->os.minor == target.os.minor;
}

}  // namespace smelt::aot::air
