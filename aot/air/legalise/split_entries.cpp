// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Apple puts exactly one entry point into a module (docs/formats/air.md 1.4); so do we. An input with one entry keeps
// its module as it is; with several, each gets a copy from which the other entries and what only they use are taken
// out.
#include "interface/entry.hpp"
#include "legalise/support.hpp"

#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace smelt::aot::air {
namespace {

Result<std::vector<EntryPoint>> find_entries(const llvm::Module& module) {
  for (const std::string_view stage : kStages)
    if (const llvm::NamedMDNode* list = entry_list(module, stage))
      for (const llvm::MDNode* node : list->operands())
        if (const llvm::Function* function = function_of(*node); !function || function->isDeclaration())
          return fail(Errc::compile_failed, "!air.{} does not name a function with a body", stage);
  std::vector<EntryPoint> entries = entry_points(module);
  if (entries.empty())
    return fail(Errc::compile_failed,
                "no entry point: the module has neither !air.kernel metadata nor a function marked as a kernel; name a "
                "function to make it a kernel");
  return entries;
}

}  // namespace

Result<std::vector<AirModule>> split_entries(KernelModule input) {
  SMELT_TRY(const std::vector<EntryPoint> entries, find_entries(*input.module));
  std::shared_ptr<llvm::LLVMContext> context = std::move(input.context);
  std::vector<AirModule> modules;
  for (size_t i = 0; i + 1 < entries.size(); ++i)
    modules.push_back({entries[i].name, entries[i].stage, context, llvm::CloneModule(*input.module), {}});
  modules.push_back({entries.back().name, entries.back().stage, context, std::move(input.module), {}});
  if (entries.size() == 1) return modules;
  for (const AirModule& unit : modules) {
    keep_entries(*unit.module, entries, [&](std::string_view name, std::string_view stage) {
      return name == unit.function && stage == unit.stage;
    });
    drop_unreached(*unit.module);
  }
  return modules;
}

}  // namespace smelt::aot::air
