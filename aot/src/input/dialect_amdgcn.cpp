// AMD's intrinsics (docs/triton-amdgcn.md). Text arrives with them renamed to plain functions amdgcn.* (spelling.cpp);
// bitcode has llvm.amdgcn.*.
#include "dialect.hpp"

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::input {

bool is_amdgcn(const llvm::Module& module) {
  if (llvm::StringRef(module.getTargetTriple()).starts_with("amdgcn")) return true;
  for (const llvm::Function& function : module)
    if (function.getName().starts_with("amdgcn.") || function.getName().starts_with("llvm.amdgcn.")) return true;
  return false;
}

Result<void> read_amdgcn(KernelModule& input, const Origin& origin, const InputOptions&) {
  for (const llvm::Function& function : *input.module) {
    llvm::StringRef name = function.getName();
    name.consume_front("llvm.");
    if (!function.isDeclaration() || !name.starts_with("amdgcn.")) continue;
    return fail(Errc::unsupported, "{}'llvm.{}' is an operation of AMD's GPUs, which this build does not translate",
                origin.line_of(std::string("llvm.") + name.str()), std::string_view(name.data(), name.size()));
  }
  return fail(Errc::unsupported, "this build does not translate IR for AMD's GPUs");
}

}  // namespace smelt::aot::input
