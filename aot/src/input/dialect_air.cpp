// IR that is AIR already: Apple's, ours, or another back end's before it writes metadata.
#include "input/dialect.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot::input {
namespace {

constexpr const char* kEntryLists[] = {"air.kernel", "air.vertex",       "air.fragment", "air.mesh",
                                       "air.object", "air.intersection", "air.visible"};

bool has_entries(const llvm::Module& module) {
  for (const char* list : kEntryLists)
    if (const auto* node = module.getNamedMetadata(list); node && node->getNumOperands() > 0) return true;
  return false;
}

}  // namespace

bool is_air(const llvm::Module& module) {
  if (has_entries(module) || module.getNamedMetadata("air.version")) return true;
  if (llvm::StringRef(module.getTargetTriple()).starts_with("air")) return true;
  for (const llvm::Function& function : module)
    if (function.isDeclaration() && function.getName().starts_with("air.")) return true;
  return false;
}

Result<void> read_air(KernelModule& input, const Origin& origin, const InputOptions& options) {
  // Complete entries decide; names on the command line then choose nothing more.
  if (has_entries(*input.module)) {
    if (options.missing_kernels) *options.missing_kernels = options.kernels;
    return {};
  }
  return mark_kernels(*input.module, origin, options);
}

}  // namespace smelt::aot::input
