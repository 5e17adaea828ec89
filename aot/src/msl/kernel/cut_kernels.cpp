// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/kernel/cut_kernels.hpp"

#include "llvm_support/bitcode_io.hpp"
#include "msl/kernel/spaces.hpp"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/TypeFinder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace smelt::aot::msl {
namespace {

constexpr llvm::StringRef kConstructors = "llvm.global_ctors";

/// "vec.12" is "vec": LLVM counts what has the same name, over the whole source.
llvm::StringRef without_count(llvm::StringRef name) {
  const size_t dot = name.find_last_not_of("0123456789");
  return dot != llvm::StringRef::npos && dot + 1 < name.size() && dot != 0 && name[dot] == '.' ? name.take_front(dot)
                                                                                               : name;
}

/// Filled in by a constructor when the program starts.
bool is_computed(const llvm::GlobalValue& value) {
  const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&value);
  return variable != nullptr && !variable->isDeclaration() && !variable->isConstant() &&
         variable->getAddressSpace() != kThreadgroup && variable->getName() != kConstructors;
}

}  // namespace

struct KernelCutter::State {
  using Values = std::vector<llvm::GlobalValue*>;

  llvm::Module& whole;
  std::map<const llvm::GlobalValue*, Values> known;      // what a value refers to itself; never walked
  std::map<const llvm::StructType*, std::string> types;  // their names, while they have none; never walked

  explicit State(llvm::Module& module) : whole(module) {
    for (llvm::GlobalAlias& alias : llvm::make_early_inc_range(whole.aliases())) {
      alias.replaceAllUsesWith(alias.getAliasee());
      alias.eraseFromParent();
    }
    for (llvm::StructType* type : whole.getIdentifiedStructTypes()) {
      types.emplace(type, without_count(type->getName()).str());
      type->setName("");
    }
  }

  const Values& references(const llvm::GlobalValue& value) {
    const auto [at, is_new] = known.try_emplace(&value);
    if (!is_new) return at->second;
    std::set<const llvm::Value*> seen;
    std::vector<llvm::Value*> work;
    const auto visit = [&](llvm::Value* first) {
      work.push_back(first);
      while (!work.empty()) {
        llvm::Value* one = work.back();
        work.pop_back();
        if (!llvm::isa<llvm::Constant>(one) || llvm::isa<llvm::ConstantData>(one) || !seen.insert(one).second) continue;
        if (auto* global = llvm::dyn_cast<llvm::GlobalValue>(one)) {
          at->second.push_back(global);
          continue;
        }
        for (llvm::Use& operand : llvm::cast<llvm::Constant>(one)->operands()) work.push_back(operand.get());
      }
    };
    if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&value)) {
      if (variable->hasInitializer()) visit(const_cast<llvm::Constant*>(variable->getInitializer()));
    } else {
      for (const llvm::Instruction& instruction : llvm::instructions(llvm::cast<llvm::Function>(value)))
        for (const llvm::Use& operand : instruction.operands()) visit(operand.get());
    }
    return at->second;
  }

  /// In the order in which they are met on the way from `first`: the module's own follows from the rest of the source.
  Values reached_from(llvm::GlobalValue& first) {
    std::set<const llvm::GlobalValue*> seen{&first};
    Values reached{&first};
    const auto follow = [&](size_t from) {
      for (size_t i = from; i < reached.size(); ++i)
        for (llvm::GlobalValue* next : references(*reached[i]))
          if (seen.insert(next).second) reached.push_back(next);
    };
    follow(0);
    llvm::GlobalVariable* constructors = whole.getGlobalVariable(kConstructors);
    if (constructors != nullptr &&
        std::any_of(reached.begin(), reached.end(), [](const llvm::GlobalValue* one) { return is_computed(*one); })) {
      reached.push_back(constructors);
      follow(reached.size() - 1);
    }
    return reached;
  }

  /// What the kernel's own types are called, as if there were no others.
  std::vector<llvm::StructType*> name_types(const llvm::Module& module) {
    llvm::TypeFinder finder;
    finder.run(module, /*onlyNamed=*/false);
    std::vector<llvm::StructType*> named;
    std::map<std::string, unsigned> counts;
    for (llvm::StructType* type : finder) {
      const auto found = types.find(type);
      if (found == types.end() || found->second.empty()) continue;
      const unsigned count = counts[found->second]++;
      type->setName(count == 0 ? found->second : found->second + "." + std::to_string(count));
      named.push_back(type);
    }
    return named;
  }
};

KernelCutter::KernelCutter(llvm::Module& whole) : state_(std::make_unique<State>(whole)) {}
KernelCutter::~KernelCutter() = default;

KernelCutter::Cut KernelCutter::cut_out(llvm::Function& kernel) {
  llvm::Module& whole = state_->whole;
  llvm::Module own("", whole.getContext());
  own.setDataLayout(whole.getDataLayout());
  own.setTargetTriple(whole.getTargetTriple());
  if (llvm::NamedMDNode* flags = whole.getModuleFlagsMetadata())
    for (llvm::MDNode* flag : flags->operands()) own.getOrInsertModuleFlagsMetadata()->addOperand(flag);

  Cut cut;
  const State::Values reached = state_->reached_from(kernel);
  llvm::ValueToValueMapTy map;
  // External names first: they must stay, while others give way.
  for (const bool local : {false, true})
    for (llvm::GlobalValue* value : reached) {
      if (value->hasLocalLinkage() != local) continue;
      if (!local) cut.names.insert(value->getName().str());
      llvm::StringRef name = local ? without_count(value->getName()) : value->getName();
      // Clang names the function that runs all constructors after the file.
      if (local && name.starts_with("_GLOBAL__sub_I_")) name = "_GLOBAL__sub_I";
      if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(value)) {
        auto* copy = new llvm::GlobalVariable(own, variable->getValueType(), variable->isConstant(),
                                              variable->getLinkage(), nullptr, name, nullptr,
                                              variable->getThreadLocalMode(), variable->getAddressSpace());
        copy->copyAttributesFrom(variable);
        map[variable] = copy;
      } else {
        auto* function = llvm::cast<llvm::Function>(value);
        auto* copy = llvm::Function::Create(function->getFunctionType(), function->getLinkage(),
                                            function->getAddressSpace(), name, &own);
        copy->copyAttributesFrom(function);
        map[function] = copy;
      }
    }
  for (llvm::GlobalValue* value : reached) {
    if (value->isDeclaration()) continue;
    if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(value)) {
      llvm::cast<llvm::GlobalVariable>(map[variable])->setInitializer(llvm::MapValue(variable->getInitializer(), map));
      continue;
    }
    auto* function = llvm::cast<llvm::Function>(value);
    auto* copy = llvm::cast<llvm::Function>(map[function]);
    for (llvm::Argument& argument : function->args()) map[&argument] = copy->getArg(argument.getArgNo());
    llvm::SmallVector<llvm::ReturnInst*, 4> returns;
    llvm::CloneFunctionInto(copy, function, map, llvm::CloneFunctionChangeType::DifferentModule, returns);
  }
  const std::vector<llvm::StructType*> named = state_->name_types(own);
  cut.bitcode = to_bitcode(own);
  for (llvm::StructType* type : named) type->setName("");
  return cut;
}

}  // namespace smelt::aot::msl
