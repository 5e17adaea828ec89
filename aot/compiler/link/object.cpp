// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules of one translation unit as one module, which can be cut into the same modules again (open_unit.cpp).
#include "smelt/aot/object.hpp"

#include "smelt/metallib/reader.hpp"

#include "bitcode/writer.hpp"
#include "interface/entry.hpp"
#include "interface/module_metadata.hpp"
#include "link/join_modules.hpp"
#include "llvm_support/guard.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot {
namespace {

Result<KernelModule> empty_module(const Target& target, const CompileOptions& options) {
  KernelModule made;
  made.context = std::make_unique<llvm::LLVMContext>();
  made.module = std::make_unique<llvm::Module>("", *made.context);
  air::write_module_metadata(
      *made.module, target,
      {options.language.value_or(target.language), options.math.mode == MathMode::fast, options.debug_lines});
  return made;
}

Result<Bytes> join_library(ByteView bytes, const Target& target, const CompileOptions& options) {
  ModuleJoiner joiner;
  if (!bytes.empty()) {
    SMELT_TRY(const metallib::Library library, metallib::read(bytes));
    for (const metallib::Function& function : library.functions)
      SMELT_TRY_VOID(joiner.add(library.module_of(function).bitcode(), function.name));
  }
  SMELT_TRY(KernelModule whole, joiner.is_empty() ? empty_module(target, options) : joiner.finish());
  // Between compiler and object only: here the functions are what they are, by their linkage.
  if (llvm::NamedMDNode* list = air::entry_list(*whole.module, air::kExternalStage)) list->eraseFromParent();
  return bitcode::write_bitcode(*whole.module, {.air = target.air, .keep_debug = options.debug_lines});
}

}  // namespace

Result<Bytes> make_object(ByteView library, const Target& target, const CompileOptions& options) {
  return contained({}, [&] { return join_library(library, target, options); });
}

}  // namespace smelt::aot
