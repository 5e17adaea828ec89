// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks one module against the lists.
#pragma once

#include "allow_list/allow_list.hpp"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/Twine.h"

#include <optional>

namespace llvm {
class AttributeList;
class CallBase;
class Constant;
class Function;
class GlobalObject;
class GlobalVariable;
class Instruction;
class Type;
}  // namespace llvm

namespace smelt::aot::allow_list {

class Inspector {
 public:
  Inspector(const llvm::Module& module, size_t most, Spaces spaces);

  std::vector<Breach> inspect();

 private:
  bool full() const { return breaches_.size() >= most_; }
  void breach(const llvm::Twine& message, bool verify_knows = false);
  void breach_at(const llvm::Instruction& instruction, const llvm::Twine& message, bool verify_knows = false);

  void inspect_module();
  void inspect_object(const llvm::GlobalObject& object);
  void inspect_global(const llvm::GlobalVariable& global);
  void inspect_function(const llvm::Function& function);
  void inspect_attributes(const llvm::AttributeList& attributes, const llvm::Twine& of);
  void inspect_instruction(const llvm::Instruction& instruction);
  void inspect_memory(const llvm::Instruction& instruction);
  void inspect_call(const llvm::CallBase& call);
  /// Follows a constant to its leaves, each once.
  void inspect_constant(const llvm::Constant& constant);

  /// What of the type AIR has not; nothing when all is well.
  const std::optional<std::string>& foreign(llvm::Type* type);
  std::optional<std::string> judge(llvm::Type* type);

  const llvm::Module& module_;
  const size_t most_;
  const Spaces spaces_;
  const bool is_cpu_only_;  ///< marked: operations that are for the CPU alone are no breach
  std::string place_;
  std::vector<Breach> breaches_;
  llvm::DenseMap<llvm::Type*, std::optional<std::string>> types_;
  llvm::SmallPtrSet<const llvm::Constant*, 32> constants_;
};

}  // namespace smelt::aot::allow_list
