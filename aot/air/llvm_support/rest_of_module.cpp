// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/rest_of_module.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

namespace smelt::aot {
namespace {

/// While it lives, a module says that its debug info is of no version: such is not verified, but dropped.
class NoVersion {
 public:
  explicit NoVersion(llvm::Module& module) : flags_(module.getModuleFlagsMetadata()) {
    if (flags_ == nullptr) return;
    for (unsigned i = 0; i < flags_->getNumOperands(); ++i) {
      llvm::MDNode* const flag = flags_->getOperand(i);
      const auto* name =
          flag->getNumOperands() == 3 ? llvm::dyn_cast_or_null<llvm::MDString>(flag->getOperand(1)) : nullptr;
      if (name == nullptr || name->getString() != "Debug Info Version") continue;
      auto* const none =
          llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(module.getContext()), 0));
      at_ = i;
      kept_ = flag;
      flags_->setOperand(i, llvm::MDNode::get(module.getContext(), {flag->getOperand(0), flag->getOperand(1), none}));
      return;
    }
  }
  ~NoVersion() {
    if (kept_ != nullptr) flags_->setOperand(at_, kept_);
  }
  NoVersion(const NoVersion&) = delete;
  NoVersion& operator=(const NoVersion&) = delete;

 private:
  llvm::NamedMDNode* flags_;
  unsigned at_ = 0;
  llvm::MDNode* kept_ = nullptr;
};

}  // namespace

llvm::Error read_rest(llvm::Module& module, bool debug_info_is_broken) {
  if (!debug_info_is_broken) return module.materializeAll();
  llvm::StripDebugInfo(module);
  const NoVersion unversioned(module);
  return module.materializeAll();
}

}  // namespace smelt::aot
