#include "air/reflect.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

#include <optional>

namespace smelt::aot::air {
namespace {

constexpr std::string_view kStages[] = {"kernel", "vertex", "fragment", "mesh", "object", "intersection", "visible"};

std::string_view view(llvm::StringRef text) {
  return {text.data(), text.size()};
}

/// Operands of one node, read front to back.
class Operands {
 public:
  explicit Operands(const llvm::MDNode& node) : node_(node) {}
  bool at_end() const { return at_ >= node_.getNumOperands(); }

  std::optional<uint64_t> number() {
    if (at_end()) return std::nullopt;
    const auto* value = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(node_.getOperand(at_));
    if (!value || value->getValue().getActiveBits() > 64) return std::nullopt;
    ++at_;
    return value->getZExtValue();
  }
  std::optional<std::string_view> text() {
    if (at_end()) return std::nullopt;
    const auto* value = llvm::dyn_cast_or_null<llvm::MDString>(node_.getOperand(at_));
    if (!value) return std::nullopt;
    ++at_;
    return view(value->getString());
  }
  void skip() { ++at_; }

 private:
  const llvm::MDNode& node_;
  unsigned at_ = 0;
};

ArgumentKind kind_of(std::string_view air_kind, uint8_t address_space) {
  if (air_kind == "air.buffer") return address_space == 3 ? ArgumentKind::threadgroup : ArgumentKind::buffer;
  if (air_kind == "air.texture") return ArgumentKind::texture;
  if (air_kind == "air.sampler") return ArgumentKind::sampler;
  if (air_kind == "air.indirect_buffer") return ArgumentKind::indirect_buffer;
  if (air_kind == "air.visible_function_table" || air_kind == "air.intersection_function_table")
    return ArgumentKind::function_table;
  if (air_kind.ends_with("acceleration_structure")) return ArgumentKind::acceleration_structure;
  for (const std::string_view part : {"thread", "grid", "simdgroup", "quadgroup"})
    if (air_kind.find(part) != std::string_view::npos) return ArgumentKind::builtin;
  return ArgumentKind::other;
}

/// { index, kind, key, value..., ... }: keys with one number, two numbers, a node, a text, or nothing behind them.
std::optional<ArgumentInfo> read_argument(const llvm::MDNode& node) {
  Operands operands(node);
  ArgumentInfo result;
  const auto index = operands.number();
  if (!index) return std::nullopt;
  result.index = static_cast<uint32_t>(*index);
  while (!operands.at_end()) {
    const auto key = operands.text();
    if (!key) {
      operands.skip();  // the value of a key that is not of interest: a number or a node
      continue;
    }
    const auto into = [&](auto& field) {
      const auto value = operands.number();
      if (value) field = static_cast<std::remove_reference_t<decltype(field)>>(*value);
      return value.has_value();
    };
    const auto into_text = [&](std::string& field) {
      const auto value = operands.text();
      if (value) field = std::string(*value);
      return value.has_value();
    };
    bool fine = true;
    if (*key == "air.function_constant") {
      result.conditional = true;
      operands.skip();
    } else if (*key == "air.location_index") {
      fine = into(result.location) && into(result.count);
    } else if (*key == "air.address_space") {
      fine = into(result.address_space);
    } else if (*key == "air.arg_type_size") {
      fine = into(result.size);
    } else if (*key == "air.arg_type_align_size") {
      fine = into(result.align);
    } else if (*key == "air.arg_type_name") {
      fine = into_text(result.type_name);
    } else if (*key == "air.arg_name") {
      fine = into_text(result.name);
    } else if (*key == "air.arg_unused") {
      result.unused = true;
    } else if (*key == "air.read") {
      result.access = ArgumentAccess::read;
    } else if (*key == "air.write") {
      result.access = ArgumentAccess::write;
    } else if (*key == "air.read_write") {
      result.access = ArgumentAccess::read_write;
    } else if (*key == "air.sample") {
      result.access = ArgumentAccess::sample;
    } else if (result.air_kind.empty()) {
      result.air_kind = std::string(*key);
    }
    if (!fine) return std::nullopt;
  }
  return result;
}

uint64_t threadgroup_bytes(const llvm::Module& module) {
  uint64_t total = 0;
  for (const llvm::GlobalVariable& global : module.globals()) {
    if (global.getAddressSpace() != 3) continue;
    const llvm::DataLayout& layout = module.getDataLayout();
    const llvm::TypeSize size = layout.getTypeAllocSize(global.getValueType());
    if (size.isScalable()) continue;
    total = llvm::alignTo(total, layout.getValueOrABITypeAlignment(global.getAlign(), global.getValueType()));
    total += size.getFixedValue();
  }
  return total;
}

bool asked_whether_defined(const llvm::Value* global) {
  if (!global) return false;
  for (const llvm::User* user : global->users()) {
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(user)) {
      const llvm::Function* callee = call->getCalledFunction();
      if (callee && callee->getName() == "air.is_function_constant_defined") return true;
    } else if (llvm::isa<llvm::ConstantExpr>(user) && asked_whether_defined(user)) {
      return true;
    }
  }
  return false;
}

std::vector<ConstantInfo> read_constants(const llvm::Module& module) {
  std::vector<ConstantInfo> result;
  const llvm::NamedMDNode* list = module.getNamedMetadata("air.function_constants");
  if (!list) return result;
  for (const llvm::MDNode* node : list->operands()) {
    if (node->getNumOperands() < 4) continue;
    Operands operands(*node);
    operands.skip();
    ConstantInfo constant;
    constant.type_name = std::string(operands.text().value_or(""));
    constant.name = std::string(operands.text().value_or(""));
    constant.index = static_cast<uint32_t>(operands.number().value_or(0));
    const auto* global = llvm::mdconst::dyn_extract_or_null<llvm::Constant>(node->getOperand(0));
    constant.required = !asked_whether_defined(global ? global->stripPointerCasts() : nullptr);
    result.push_back(std::move(constant));
  }
  return result;
}

/// The version in the first node of a list, behind `skip` operands.
Version read_version(const llvm::Module& module, const char* list_name, unsigned skip) {
  const llvm::NamedMDNode* list = module.getNamedMetadata(list_name);
  if (!list || list->getNumOperands() == 0) return {};
  Operands operands(*list->getOperand(0));
  for (unsigned i = 0; i < skip; ++i) operands.skip();
  const auto part = [&] { return static_cast<uint16_t>(operands.number().value_or(0)); };
  Version version;
  version.major = part();
  version.minor = part();
  version.patch = part();
  return version;
}

}  // namespace

Result<std::vector<KernelInfo>> reflect(const llvm::Module& module) {
  std::vector<KernelInfo> result;
  const std::vector<ConstantInfo> constants = read_constants(module);
  for (const std::string_view stage : kStages) {
    const llvm::NamedMDNode* list = module.getNamedMetadata(fmt::format("air.{}", stage));
    if (!list) continue;
    for (const llvm::MDNode* entry : list->operands()) {
      if (entry->getNumOperands() < 1) continue;
      const auto* function = llvm::mdconst::dyn_extract_or_null<llvm::Function>(entry->getOperand(0));
      if (!function) return fail(Errc::compile_failed, "an entry of !air.{} names no function", stage);
      KernelInfo info;
      info.name = function->getName().str();
      info.stage = std::string(stage);
      info.constants = constants;
      info.threadgroup_bytes = threadgroup_bytes(module);
      info.air = read_version(module, "air.version", 0);
      info.language = read_version(module, "air.language_version", 1);
      const auto* inputs =
          entry->getNumOperands() > 2 ? llvm::dyn_cast_or_null<llvm::MDNode>(entry->getOperand(2)) : nullptr;
      for (unsigned i = 0; inputs && i < inputs->getNumOperands(); ++i) {
        const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(inputs->getOperand(i));
        auto argument = node ? read_argument(*node) : std::nullopt;
        if (!argument)
          return fail(Errc::compile_failed, "argument {} of function '{}' has malformed metadata", i, info.name);
        // Address spaces are written from AIR 2.5 on; before, the parameter's type says it.
        if (argument->address_space == 0 && argument->index < function->arg_size())
          if (const auto* type = llvm::dyn_cast<llvm::PointerType>(function->getArg(argument->index)->getType()))
            argument->address_space = static_cast<uint8_t>(type->getAddressSpace());
        argument->kind = kind_of(argument->air_kind, argument->address_space);
        info.arguments.push_back(std::move(*argument));
      }
      for (unsigned i = 3; i < entry->getNumOperands(); ++i) {
        const auto* extra = llvm::dyn_cast_or_null<llvm::MDNode>(entry->getOperand(i));
        if (!extra) continue;
        Operands operands(*extra);
        if (operands.text() == "air.max_work_group_size")
          info.max_threads = static_cast<uint32_t>(operands.number().value_or(0));
      }
      result.push_back(std::move(info));
    }
  }
  return result;
}

Result<KernelInfo> reflect(const llvm::Module& module, std::string_view function) {
  SMELT_TRY(std::vector<KernelInfo> all, reflect(module));
  for (KernelInfo& info : all)
    if (info.name == function) return std::move(info);
  return fail(Errc::function_not_found, "the module has no entry point '{}'", function);
}

}  // namespace smelt::aot::air

namespace smelt::aot {}  // namespace smelt::aot
