// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/kernel/cut_kernels.hpp"

#include "llvm_support/bitcode_io.hpp"
#include "msl/kernel/optimise.hpp"
#include "msl/kernel/spaces.hpp"
#include "msl/safely.hpp"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/TypeFinder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
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

/// "struct.metal::__vectors::vec" is "struct.metal::vec": where our headers keep their classes is nobody's business.
std::string public_name(llvm::StringRef name) {
  constexpr llvm::StringLiteral kInner = "::__vectors::";
  std::string text = without_count(name).str();
  if (const size_t at = text.find(kInner); at != std::string::npos) text.replace(at, kInner.size(), "::");
  return text;
}

/// Filled in by a constructor when the program starts.
bool is_computed(const llvm::GlobalValue& value) {
  const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&value);
  return variable != nullptr && !variable->isDeclaration() && !variable->isConstant() &&
         variable->getAddressSpace() != kThreadgroup && variable->getName() != kConstructors;
}

/// What cutting knows of the whole source. One thread.
class Cutter {
 public:
  Cutter(llvm::Module& module, const std::vector<llvm::Function*>& kernels)
      : whole_(module), helpers_(module, kernels) {
    for (llvm::GlobalAlias& alias : llvm::make_early_inc_range(whole_.aliases())) {
      alias.replaceAllUsesWith(alias.getAliasee());
      alias.eraseFromParent();
    }
    for (llvm::StructType* type : whole_.getIdentifiedStructTypes()) {
      types_.emplace(type, public_name(type->getName()));
      type->setName("");
    }
  }

  struct Cut {
    Bytes bitcode;
    std::set<std::string> names;  ///< of external functions and variables in it
  };
  Cut cut_out(llvm::Function& kernel);

 private:
  using Values = std::vector<llvm::GlobalValue*>;

  const Values& references(const llvm::GlobalValue& value) {
    const auto [at, is_new] = known_.try_emplace(&value);
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
    llvm::GlobalVariable* constructors = whole_.getGlobalVariable(kConstructors);
    if (constructors != nullptr &&
        std::any_of(reached.begin(), reached.end(), [](const llvm::GlobalValue* one) { return is_computed(*one); })) {
      reached.push_back(constructors);
      follow(reached.size() - 1);
    }
    return reached;
  }

  /// Once for all kernels. Not those that LLVM has counted, as names end up in metadata of what is inlined.
  void simplify_helpers(llvm::Function& kernel) {
    std::vector<llvm::Function*> helpers;
    for (llvm::GlobalValue* value : reached_from(kernel))
      if (auto* function = llvm::dyn_cast<llvm::Function>(value);
          function != nullptr && !function->isDeclaration() &&
          (!function->hasLocalLinkage() || without_count(function->getName()) == function->getName()))
        helpers.push_back(function);
    for (const llvm::Function* helper : helpers_.simplify(std::move(helpers))) known_.erase(helper);
  }

  /// What the kernel's own types are called, as if there were no others.
  std::vector<llvm::StructType*> name_types(const llvm::Module& module) {
    llvm::TypeFinder finder;
    finder.run(module, /*onlyNamed=*/false);
    std::vector<llvm::StructType*> named;
    std::map<std::string, unsigned> counts;
    for (llvm::StructType* type : finder) {
      const auto found = types_.find(type);
      if (found == types_.end() || found->second.empty()) continue;
      const unsigned count = counts[found->second]++;
      type->setName(count == 0 ? found->second : found->second + "." + std::to_string(count));
      named.push_back(type);
    }
    return named;
  }

  llvm::Module& whole_;
  HelperSimplifier helpers_;
  std::map<const llvm::GlobalValue*, Values> known_;      // what a value refers to itself; never walked
  std::map<const llvm::StructType*, std::string> types_;  // their names, while they have none; never walked
};

Cutter::Cut Cutter::cut_out(llvm::Function& kernel) {
  llvm::Module own("", whole_.getContext());
  own.setDataLayout(whole_.getDataLayout());
  own.setTargetTriple(whole_.getTargetTriple());
  if (llvm::NamedMDNode* flags = whole_.getModuleFlagsMetadata())
    for (llvm::MDNode* flag : flags->operands()) own.getOrInsertModuleFlagsMetadata()->addOperand(flag);

  Cut cut;
  simplify_helpers(kernel);
  const Values reached = reached_from(kernel);
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
  const std::vector<llvm::StructType*> named = name_types(own);
  cut.bitcode = to_bitcode(own);
  for (llvm::StructType* type : named) type->setName("");
  return cut;
}

}  // namespace

struct KernelCutter::State {
  std::mutex lock;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> whole;  // null when all is cut out
  std::unique_ptr<Cutter> cutter;
  std::vector<llvm::Function*> functions;
  std::vector<ConstantFact> constants;
  std::vector<std::unique_ptr<const MslKernel>> made;
  size_t left = 0;
  std::optional<Error> broken;  // by a crash

  std::unique_ptr<const MslKernel> make(size_t index, const KernelFact& fact) {
    Cutter::Cut cut = cutter->cut_out(*functions[index]);
    auto kernel = std::make_unique<MslKernel>();
    kernel->fact = fact;
    kernel->bitcode = std::move(cut.bitcode);
    const auto may_read = [&](const ConstantFact& constant) {
      const auto is_condition = [&](const auto& one) { return one.condition == constant.symbol; };
      return cut.names.count(constant.symbol) != 0 ||
             std::any_of(fact.parameters.begin(), fact.parameters.end(), is_condition) ||
             std::any_of(fact.results.begin(), fact.results.end(), is_condition);
    };
    std::copy_if(constants.begin(), constants.end(), std::back_inserter(kernel->constants), may_read);
    return kernel;
  }
};

KernelCutter::KernelCutter(std::unique_ptr<llvm::LLVMContext> context, std::unique_ptr<llvm::Module> whole,
                           std::vector<llvm::Function*> functions, std::vector<ConstantFact> constants)
    : state_(std::make_unique<State>()) {
  state_->cutter = std::make_unique<Cutter>(*whole, functions);
  state_->context = std::move(context);
  state_->whole = std::move(whole);
  state_->made.resize(functions.size());
  state_->left = functions.size();
  state_->functions = std::move(functions);
  state_->constants = std::move(constants);
}
KernelCutter::~KernelCutter() = default;

Result<const MslKernel*> KernelCutter::cut_out(size_t index, const KernelFact& fact) {
  State& state = *state_;
  // Held by this thread while LLVM runs on another one, so that it is given back whatever happens there.
  const std::lock_guard guard(state.lock);
  if (state.made[index]) return state.made[index].get();
  if (state.broken) return tl::unexpected(*state.broken);
  if (auto done = run_safely(fact.name, [&] { state.made[index] = state.make(index, fact); }); !done) {
    state.broken = done.error();
    // Whatever it was doing is left half done.
    (void)state.cutter.release();
    (void)state.whole.release();
    (void)state.context.release();
    return tl::unexpected(std::move(done).error());
  }
  if (--state.left == 0) {
    state.cutter.reset();
    state.whole.reset();
    state.context.reset();
  }
  return state.made[index].get();
}

MslModule::MslModule() = default;
MslModule::~MslModule() = default;

Result<const MslKernel*> MslModule::kernel(size_t index) const {
  return cutter->cut_out(index, kernels[index]);
}

}  // namespace smelt::aot::msl
