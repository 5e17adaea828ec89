// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "link/join_modules.hpp"

#include "ir_reader/parse.hpp"
#include "llvm_support/diagnostics.hpp"

#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"

#include <set>

namespace smelt::aot {
namespace {

constexpr unsigned kThreadgroup = 3;

/// What a module has for itself though other modules of its source have the same: nothing is stored in it but by the
/// hardware, or it is memory that the source names once.
bool may_be_shared(const llvm::GlobalVariable& variable) {
  return !variable.isDeclaration() && (variable.isConstant() || variable.getAddressSpace() == kThreadgroup);
}

bool are_the_same(const llvm::GlobalVariable& a, const llvm::GlobalVariable& b) {
  return a.getValueType() == b.getValueType() && a.getAddressSpace() == b.getAddressSpace() &&
         a.getInitializer() == b.getInitializer() && a.isConstant() == b.isConstant() &&
         a.getSection() == b.getSection() && a.isExternallyInitialized() == b.isExternallyInitialized();
}

/// Local variables become ones that the linker takes once.
void share_variables(llvm::Module& added, const llvm::Module* whole) {
  for (llvm::GlobalVariable& variable : added.globals()) {
    if (!variable.hasLocalLinkage() || !may_be_shared(variable) || !variable.hasName()) continue;
    const llvm::GlobalVariable* known = whole ? whole->getGlobalVariable(variable.getName(), true) : nullptr;
    if (known == nullptr || are_the_same(*known, variable)) variable.setLinkage(llvm::GlobalValue::LinkOnceODRLinkage);
  }
}

/// Each version, option and producer once.
void unify_lists(llvm::Module& module) {
  for (llvm::NamedMDNode& list : module.named_metadata()) {
    if (list.getName() == "llvm.module.flags") continue;
    std::set<const llvm::MDNode*> seen;
    std::vector<llvm::MDNode*> once;
    for (llvm::MDNode* node : list.operands())
      if (seen.insert(node).second) once.push_back(node);
    list.clearOperands();
    for (llvm::MDNode* node : once) list.addOperand(node);
  }
}

}  // namespace

ModuleJoiner::ModuleJoiner() : message_(std::make_shared<std::string>()) {}
ModuleJoiner::~ModuleJoiner() = default;

Result<void> ModuleJoiner::add(ByteView bitcode, std::string_view name) {
  if (!whole_.context) whole_.context = std::make_unique<llvm::LLVMContext>();
  SMELT_TRY(std::unique_ptr<llvm::Module> read, input::parse_into(*whole_.context, bitcode, name));
  install_diagnostics(*whole_.context, message_);
  share_variables(*read, whole_.module.get());
  if (!whole_.module) {
    whole_.module = std::move(read);
    return {};
  }
  if (llvm::Linker::linkModules(*whole_.module, std::move(read)) || !message_->empty())
    return fail(Errc::compile_failed, "{}: {}", name, *message_);
  return {};
}

Result<KernelModule> ModuleJoiner::finish() {
  llvm::Module& module = *whole_.module;
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.hasLinkOnceODRLinkage()) variable.setLinkage(llvm::GlobalValue::InternalLinkage);
  unify_lists(module);
  module.setModuleIdentifier("");
  module.setSourceFileName("");
  return std::move(whole_);
}

}  // namespace smelt::aot
