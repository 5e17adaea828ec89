// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Function constants. A constant is a read-only variable in space 2 that the API fills in when the pipeline is made
// (docs/formats/air.md 1.7). A derived one,
//
//   constant bool use_mask = is_function_constant_defined(has_mask) ? has_mask : false;
//
// is a variable that Clang fills in from a static constructor. AIR runs none but its own, so the constructors' work is
// done at the head of each entry that reads what they write, in a variable of the thread; the optimiser folds it.
#include "msl/kernel/describe_entry.hpp"
#include "msl/kernel/optimise.hpp"
#include "msl/kernel/thread_variables.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <fmt/format.h>

namespace smelt::aot::msl {
namespace {

/// "s" for short: the letter that ends the name of a constant's storage. bool, int, short and float are as seen; the
/// rest follow C++'s mangling, as those do where it was seen. Vectors: inferred.
std::string type_letter(std::string_view type_name) {
  constexpr std::pair<std::string_view, std::string_view> kLetters[] = {
      {"bool", "b"}, {"char", "c"}, {"uchar", "h"}, {"short", "s"}, {"ushort", "t"}, {"int", "i"},
      {"uint", "j"}, {"long", "l"}, {"ulong", "m"}, {"half", "Dh"}, {"float", "f"},
  };
  for (const auto& [name, letter] : kLetters)
    if (type_name == name) return std::string(letter);
  for (const auto& [name, letter] : kLetters)
    if (type_name.starts_with(name) && type_name.size() == name.size() + 1)
      return fmt::format("Dv{}_{}", type_name.substr(name.size()), letter);
  return "v";
}

void give_storage(llvm::Module& module, const std::vector<ConstantFact>& constants) {
  for (const ConstantFact& constant : constants) {
    llvm::GlobalVariable* global = module.getGlobalVariable(constant.symbol, true);
    if (global == nullptr) continue;
    global->setLinkage(llvm::GlobalValue::InternalLinkage);
    global->setInitializer(llvm::UndefValue::get(global->getValueType()));
    global->setExternallyInitialized(true);
    global->setConstant(true);
    global->setSection("air.fc_initializer");
    global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    global->setDSOLocal(true);
    global->setName(constant_storage_name(constant));
  }
}

/// The functions in llvm.global_ctors, in order, and the list gone.
std::vector<llvm::Function*> take_constructors(llvm::Module& module) {
  std::vector<llvm::Function*> functions;
  llvm::GlobalVariable* list = module.getGlobalVariable("llvm.global_ctors");
  if (list == nullptr) return functions;
  if (list->hasInitializer())
    if (const auto* array = llvm::dyn_cast<llvm::ConstantArray>(list->getInitializer()))
      for (const llvm::Use& element : array->operands())
        if (auto* function =
                llvm::dyn_cast<llvm::Function>(llvm::cast<llvm::Constant>(element)->getOperand(1)->stripPointerCasts()))
          functions.push_back(function);
  list->eraseFromParent();
  return functions;
}

}  // namespace

std::string constant_storage_name(const ConstantFact& constant) {
  return fmt::format("_Z{}{}.MTL_FC_INIT_{}_{}", constant.name.size(), constant.name, constant.index,
                     type_letter(constant.type_name));
}

Result<void> bind_constants(llvm::Module& module, const std::vector<ConstantFact>& constants, llvm::Function& entry) {
  give_storage(module, constants);
  const std::vector<llvm::Function*> constructors = take_constructors(module);
  if (constructors.empty()) return {};
  // The constructors run first thing; those whose result the entry does not read fold away.
  llvm::IRBuilder<> builder(&*entry.getEntryBlock().getFirstInsertionPt());
  std::vector<llvm::CallInst*> calls;
  for (llvm::Function* constructor : constructors) calls.push_back(builder.CreateCall(constructor));
  for (llvm::CallInst* call : calls) {
    llvm::InlineFunctionInfo info;
    if (!llvm::InlineFunction(*call, info).isSuccess())
      return fail(Errc::compile_failed, "kernel '{}': a program-scope constant cannot be computed",
                  std::string(entry.getName()));
  }
  for (llvm::GlobalVariable& global : llvm::make_early_inc_range(module.globals())) {
    if (global.isConstant() || global.isDeclaration() || global.isExternallyInitialized() ||
        global.getAddressSpace() == 3 || global.getName().starts_with("llvm."))
      continue;
    SMELT_TRY_VOID(move_to_thread(global, entry));
  }
  for (llvm::Function* constructor : constructors)
    if (constructor->use_empty()) constructor->eraseFromParent();
  return {};
}

}  // namespace smelt::aot::msl
