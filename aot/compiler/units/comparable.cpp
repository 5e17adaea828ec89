// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/aot/listing.hpp"

#include "interface/entry.hpp"
#include "ir/reader.hpp"
#include "ir_reader/parse.hpp"
#include "llvm_support/guard.hpp"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace smelt::aot {
namespace {

/// What says by whom and for which system a module was built.
bool is_about_the_build(llvm::StringRef named_metadata) {
  for (const char* name :
       {"llvm.ident", "llvm.commandline", "air.version", "air.language_version", "air.source_file_name"})
    if (named_metadata == name) return true;
  return false;
}

/// Values, blocks and what only this module can name go by their numbers.
void drop_names(llvm::Module& module) {
  for (llvm::GlobalValue& global : module.global_values())
    if (global.hasLocalLinkage()) global.setName("");
  for (llvm::Function& function : module) {
    for (llvm::Argument& argument : function.args()) argument.setName("");
    for (llvm::BasicBlock& block : function) {
      block.setName("");
      for (llvm::Instruction& instruction : block) instruction.setName("");
    }
  }
}

/// The module flags without those of the SDK and of debug info.
void drop_build_flags(llvm::NamedMDNode& flags) {
  std::vector<llvm::MDNode*> kept;
  for (llvm::MDNode* flag : flags.operands()) {
    const auto* key = flag->getNumOperands() > 1 ? llvm::dyn_cast<llvm::MDString>(flag->getOperand(1)) : nullptr;
    if (key == nullptr || (key->getString() != "SDK Version" && key->getString() != "Debug Info Version" &&
                           key->getString() != "Dwarf Version"))
      kept.push_back(flag);
  }
  flags.clearOperands();
  for (llvm::MDNode* flag : kept) flags.addOperand(flag);
}

void sort_named_metadata(llvm::Module& module) {
  std::vector<std::pair<std::string, std::vector<llvm::MDNode*>>> lists;
  for (llvm::NamedMDNode& node : module.named_metadata())
    if (!is_about_the_build(node.getName()))
      lists.emplace_back(node.getName().str(),
                         std::vector<llvm::MDNode*>(node.operands().begin(), node.operands().end()));
  while (!module.named_metadata_empty()) module.eraseNamedMetadata(&*module.named_metadata_begin());
  std::sort(lists.begin(), lists.end());
  for (const auto& [name, operands] : lists) {
    llvm::NamedMDNode* node = module.getOrInsertNamedMetadata(name);
    for (llvm::MDNode* operand : operands) node->addOperand(operand);
  }
}

/// Functions and variables as one needs the next: entry points first, what nothing needs last.
class Order {
 public:
  explicit Order(llvm::Module& module) : module_(module) {
    for (const air::EntryPoint& entry : air::entry_points(module))
      if (llvm::Function* function = module.getFunction(entry.name)) reached_.insert(function);
    for (size_t i = 0; i < reached_.size(); ++i) look_into(*reached_[i]);
    for (llvm::GlobalObject& global : module.global_objects()) reached_.insert(&global);
  }

  void apply() {
    for (llvm::GlobalObject* global : reached_) {
      if (auto* function = llvm::dyn_cast<llvm::Function>(global)) {
        function->removeFromParent();
        module_.getFunctionList().push_back(function);
      } else if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(global)) {
        variable->removeFromParent();
        module_.insertGlobalVariable(variable);
      }
    }
  }

 private:
  void look_into(const llvm::GlobalObject& global) {
    if (const auto* function = llvm::dyn_cast<llvm::Function>(&global)) {
      for (const llvm::Instruction& instruction : llvm::instructions(*function))
        for (const llvm::Value* operand : instruction.operands()) take(operand);
    }
    for (const llvm::Value* operand : global.operands()) take(operand);
  }

  void take(const llvm::Value* value) {
    if (const auto* global = llvm::dyn_cast<llvm::GlobalObject>(value)) {
      reached_.insert(const_cast<llvm::GlobalObject*>(global));
    } else if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
               constant && seen_.insert(constant).second) {
      for (const llvm::Value* operand : constant->operands()) take(operand);
    }
  }

  llvm::Module& module_;
  llvm::SetVector<llvm::GlobalObject*> reached_;
  llvm::SmallPtrSet<const llvm::Constant*, 32> seen_;
};

}  // namespace

Result<ComparableModule> comparable_module(ByteView bitcode, std::string_view name) {
  return contained(name, [&]() -> Result<ComparableModule> {
    SMELT_TRY(const KernelModule parsed, input::parse_module(bitcode, name));
    llvm::Module& module = *parsed.module;
    ComparableModule result;
    result.triple = module.getTargetTriple();
    llvm::StripDebugInfo(module);
    module.setSourceFileName("");
    module.setModuleIdentifier("");
    module.setTargetTriple("");
    Order(module).apply();
    drop_names(module);
    if (llvm::NamedMDNode* flags = module.getModuleFlagsMetadata()) drop_build_flags(*flags);
    sort_named_metadata(module);
    llvm::raw_string_ostream stream(result.text);
    module.print(stream, nullptr);
    return result;
  });
}

}  // namespace smelt::aot
