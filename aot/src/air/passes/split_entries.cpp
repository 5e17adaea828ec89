// Apple puts exactly one entry point into a module (docs/air.md 1.4); so do we. An input with one entry keeps its
// module as it is; with several, each gets a copy from which the other entries and what only they use are taken out.
#include "air/passes/support.hpp"

#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <algorithm>

namespace smelt::aot::air {
namespace {

constexpr std::string_view kStages[] = {"kernel", "vertex", "fragment", "mesh", "object", "intersection", "visible"};

struct Entry {
  std::string name, stage;
  bool operator==(const Entry&) const = default;
};

llvm::Function* function_of(const llvm::MDNode& node) {
  if (node.getNumOperands() == 0) return nullptr;
  return llvm::mdconst::dyn_extract_or_null<llvm::Function>(node.getOperand(0));
}

Result<std::vector<Entry>> find_entries(const llvm::Module& module) {
  std::vector<Entry> entries;
  for (const std::string_view stage : kStages)
    if (const llvm::NamedMDNode* list = module.getNamedMetadata(fmt::format("air.{}", stage)))
      for (const llvm::MDNode* node : list->operands()) {
        const llvm::Function* function = function_of(*node);
        if (!function || function->isDeclaration())
          return fail(Errc::compile_failed, "!air.{} names no function with a body", stage);
        entries.push_back({function->getName().str(), std::string(stage)});
      }
  for (const llvm::Function& function : module) {
    if (!function.hasFnAttribute(kKernelAttribute) || function.isDeclaration()) continue;
    const Entry entry{function.getName().str(), "kernel"};
    if (std::find(entries.begin(), entries.end(), entry) == entries.end()) entries.push_back(entry);
  }
  if (entries.empty())
    return fail(
        Errc::compile_failed,
        "no entry point: neither !air.kernel metadata nor a function marked as a kernel; name one to make it so");
  return entries;
}

void drop_dead_globals(llvm::Module& module) {
  llvm::PassBuilder builder;
  llvm::ModuleAnalysisManager analyses;
  builder.registerModuleAnalyses(analyses);
  llvm::GlobalDCEPass().run(module, analyses);
}

/// Leaves `keep` as the only entry of `module`.
void isolate(llvm::Module& module, const Entry& keep, const std::vector<Entry>& all) {
  for (const std::string_view stage : kStages) {
    llvm::NamedMDNode* list = module.getNamedMetadata(fmt::format("air.{}", stage));
    if (!list) continue;
    std::vector<llvm::MDNode*> kept;
    for (llvm::MDNode* node : list->operands())
      if (stage == keep.stage && to_view(function_of(*node)->getName()) == keep.name) kept.push_back(node);
    list->clearOperands();
    for (llvm::MDNode* node : kept) list->addOperand(node);
    if (kept.empty()) list->eraseFromParent();
  }
  for (const Entry& entry : all) {
    if (entry.name == keep.name) continue;
    llvm::Function* function = module.getFunction(entry.name);
    function->removeFnAttr(kKernelAttribute);
    function->setLinkage(llvm::GlobalValue::InternalLinkage);
    function->setComdat(nullptr);
  }
  drop_dead_globals(module);
}

}  // namespace

Result<std::vector<AirModule>> split_entries(KernelModule input) {
  SMELT_TRY(const std::vector<Entry> entries, find_entries(*input.module));
  std::shared_ptr<llvm::LLVMContext> context = std::move(input.context);
  std::vector<AirModule> modules;
  for (size_t i = 0; i + 1 < entries.size(); ++i)
    modules.push_back({entries[i].name, entries[i].stage, context, llvm::CloneModule(*input.module), {}});
  modules.push_back({entries.back().name, entries.back().stage, context, std::move(input.module), {}});
  if (entries.size() > 1)
    for (size_t i = 0; i < entries.size(); ++i) isolate(*modules[i].module, entries[i], entries);
  return modules;
}

}  // namespace smelt::aot::air
