#include "cpu/kernel_info.hpp"

#include "smelt/schema/cpu_abi.h"

#include <algorithm>
#include <optional>

namespace smelt::aot::cpu {
namespace {

std::optional<uint64_t> integer_at(const llvm::MDNode& node, unsigned at) {
  if (at >= node.getNumOperands()) return std::nullopt;
  const auto* value = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(node.getOperand(at));
  if (value == nullptr || value->getBitWidth() > 64) return std::nullopt;
  return value->getZExtValue();
}

llvm::StringRef text_at(const llvm::MDNode& node, unsigned at) {
  if (at >= node.getNumOperands()) return {};
  const auto* text = llvm::dyn_cast_or_null<llvm::MDString>(node.getOperand(at).get());
  return text != nullptr ? text->getString() : llvm::StringRef();
}

/// Place of the string `key` in a node, or 0: keys never come first.
unsigned find_key(const llvm::MDNode& node, llvm::StringRef key) {
  for (unsigned i = 1; i < node.getNumOperands(); ++i)
    if (text_at(node, i) == key) return i;
  return 0;
}

/// Argument nodes may carry a condition (a function constant) before their kind: the kind is the first string.
llvm::StringRef kind_of(const llvm::MDNode& node, unsigned& at) {
  for (at = 1; at < node.getNumOperands(); ++at) {
    const llvm::StringRef text = text_at(node, at);
    if (text == "air.function_constant") {
      ++at;
      continue;
    }
    if (!text.empty()) return text;
  }
  return {};
}

Result<KernelArgument> read_buffer(const llvm::MDNode& node, unsigned argument) {
  const unsigned location = find_key(node, "air.location_index");
  const std::optional<uint64_t> index = location != 0 ? integer_at(node, location + 1) : std::nullopt;
  const std::optional<uint64_t> count = location != 0 ? integer_at(node, location + 2) : std::nullopt;
  if (!index || *index >= SMELT_CPU_MAX_BUFFERS)
    return fail(Errc::unsupported, "argument {}: buffer index {} is not one of 0..{}", argument,
                index ? fmt::to_string(*index) : "(none)", SMELT_CPU_MAX_BUFFERS - 1);
  if (count && *count != 1)
    return fail(Errc::unsupported, "argument {}: an array of {} buffers is not on the CPU", argument, *count);
  const unsigned space = find_key(node, "air.address_space");
  KernelArgument result;
  result.location = static_cast<uint32_t>(*index);
  if (space != 0 && integer_at(node, space + 1) == 3) result.kind = KernelArgument::Kind::threadgroup;
  return result;
}

Result<KernelArgument> read_argument(const llvm::MDNode& node, unsigned argument, const llvm::Type& type) {
  unsigned at = 0;
  const llvm::StringRef kind = kind_of(node, at);
  if (kind == "air.buffer" || kind == "air.indirect_buffer") {
    SMELT_TRY(KernelArgument result, read_buffer(node, argument));
    // Before AIR 2.5 the metadata has no address space; the type always has.
    if (type.isPointerTy() && type.getPointerAddressSpace() == 3) result.kind = KernelArgument::Kind::threadgroup;
    if (!type.isPointerTy())
      return fail(Errc::corrupt, "argument {}: metadata says buffer, the parameter is no pointer", argument);
    return result;
  }
  if (kind.starts_with("air.") && !type.isPointerTy()) {
    KernelArgument result;
    result.kind = KernelArgument::Kind::builtin;
    result.builtin = kind.drop_front(4).str();
    return result;
  }
  if (kind == "air.texture" || kind == "air.indirect_texture")
    return fail(Errc::unsupported, "argument {} is a texture: not on the CPU", argument);
  if (kind == "air.sampler") return fail(Errc::unsupported, "argument {} is a sampler: not on the CPU", argument);
  return fail(Errc::unsupported, "argument {} is of kind '{}': not on the CPU", argument, kind.str());
}

Result<void> read_arguments(const llvm::MDNode& entry, KernelInfo& info) {
  const auto* list = llvm::dyn_cast_or_null<llvm::MDNode>(entry.getOperand(2).get());
  const unsigned parameters = info.function->arg_size();
  if (list == nullptr || list->getNumOperands() != parameters)
    return fail(Errc::corrupt, "the entry point has {} parameters and metadata for {}", parameters,
                list != nullptr ? list->getNumOperands() : 0);
  std::vector<bool> seen(parameters);
  info.arguments.resize(parameters);
  for (const llvm::MDOperand& operand : list->operands()) {
    const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(operand.get());
    const std::optional<uint64_t> index = node != nullptr ? integer_at(*node, 0) : std::nullopt;
    if (!index || *index >= parameters || seen[*index])
      return fail(Errc::corrupt, "an argument node without an index of its own below {}", parameters);
    seen[*index] = true;
    const auto argument = static_cast<unsigned>(*index);
    SMELT_TRY(info.arguments[argument], read_argument(*node, argument, *info.function->getArg(argument)->getType()));
  }
  return {};
}

Result<void> read_function_constants(llvm::Module& module, KernelInfo& info) {
  const llvm::NamedMDNode* nodes = module.getNamedMetadata("air.function_constants");
  if (nodes == nullptr) return {};
  for (const llvm::MDNode* node : nodes->operands()) {
    auto* global = node->getNumOperands() > 0
                       ? llvm::mdconst::dyn_extract_or_null<llvm::GlobalVariable>(node->getOperand(0))
                       : nullptr;
    const std::optional<uint64_t> index = integer_at(*node, 3);
    if (global == nullptr) continue;  // dropped by the optimiser: nobody reads it
    if (!index || *index > 0xffff || !global->getValueType()->isSized())
      return fail(Errc::corrupt, "function constant {} has no index", global->getName().str());
    info.constants.push_back({static_cast<uint32_t>(*index), global});
  }
  std::stable_sort(info.constants.begin(), info.constants.end(),
                   [](const FunctionConstant& a, const FunctionConstant& b) { return a.index < b.index; });
  return {};
}

Result<void> read_initialisers(llvm::Module& module, KernelInfo& info) {
  const llvm::GlobalVariable* list = module.getGlobalVariable("llvm.global_ctors");
  if (list == nullptr || !list->hasInitializer()) return {};
  const auto* rows = llvm::dyn_cast<llvm::ConstantArray>(list->getInitializer());
  if (rows == nullptr) return {};  // empty
  std::vector<std::pair<uint64_t, llvm::Function*>> found;
  for (const llvm::Use& use : rows->operands()) {
    const auto* row = llvm::dyn_cast<llvm::ConstantStruct>(use.get());
    auto* function = row != nullptr ? llvm::dyn_cast<llvm::Function>(row->getOperand(1)->stripPointerCasts()) : nullptr;
    const auto* priority = row != nullptr ? llvm::dyn_cast<llvm::ConstantInt>(row->getOperand(0)) : nullptr;
    if (function == nullptr || priority == nullptr || function->isDeclaration() || function->arg_size() != 0 ||
        !function->getReturnType()->isVoidTy())
      return fail(Errc::corrupt, "llvm.global_ctors holds something else than functions of this module");
    found.emplace_back(priority->getZExtValue(), function);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [priority, function] : found) info.initialisers.push_back(function);
  return {};
}

bool has_fast_math(const llvm::Module& module) {
  const llvm::NamedMDNode* options = module.getNamedMetadata("air.compile_options");
  if (options == nullptr) return false;
  for (const llvm::MDNode* node : options->operands())
    if (text_at(*node, 0) == "air.compile.fast_math_enable") return true;
  return false;
}

}  // namespace

Result<KernelInfo> read_kernel_info(llvm::Module& module) {
  const llvm::NamedMDNode* kernels = module.getNamedMetadata("air.kernel");
  if (kernels == nullptr || kernels->getNumOperands() == 0) {
    for (const char* kind : {"vertex", "fragment", "visible", "mesh", "object", "intersection"})
      if (module.getNamedMetadata(std::string("air.") + kind) != nullptr)
        return fail(Errc::function_kind, "a {} function: only compute kernels run on the CPU", kind);
    return fail(Errc::function_kind, "no !air.kernel: only compute kernels run on the CPU");
  }
  if (kernels->getNumOperands() != 1)
    return fail(Errc::unsupported, "{} entry points in one module; a library has one module for each",
                kernels->getNumOperands());
  const llvm::MDNode* entry = kernels->getOperand(0);
  KernelInfo info;
  if (entry->getNumOperands() >= 3)
    info.function = llvm::mdconst::dyn_extract_or_null<llvm::Function>(entry->getOperand(0));
  if (info.function == nullptr || info.function->isDeclaration() || !info.function->getReturnType()->isVoidTy() ||
      info.function->isVarArg())
    return fail(Errc::corrupt, "!air.kernel names no function of this module that returns void");
  info.name = info.function->getName().str();
  info.fast_math = has_fast_math(module);
  SMELT_TRY_VOID(read_arguments(*entry, info));
  SMELT_TRY_VOID(read_function_constants(module, info));
  SMELT_TRY_VOID(read_initialisers(module, info));
  return info;
}

}  // namespace smelt::aot::cpu
