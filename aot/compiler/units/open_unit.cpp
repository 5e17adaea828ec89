// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A unit's module, read again for each target.
#include "interface/module_metadata.hpp"
#include "ir/reader.hpp"
#include "llvm_support/diagnostics.hpp"
#include "msl/kernel/entry_points.hpp"
#include "units/units.hpp"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"

namespace smelt::aot {
namespace {

/// Takes the entries that are not the unit's out of the module, bodies unread.
void keep_own_entries(llvm::Module& module, const Unit& unit) {
  air::keep_entries(module, *unit.all, [&](std::string_view name, std::string_view stage) {
    for (size_t i = unit.first; i < unit.first + unit.count; ++i)
      if (name == (*unit.all)[i].name && stage == (*unit.all)[i].stage) return true;
    return false;
  });
}

}  // namespace

Result<KernelModule> open_unit(const Unit& unit) {
  if (unit.msl) {
    SMELT_TRY(const msl::MslKernel* const kernel, unit.msl->kernel(unit.first));
    return msl::make_kernel(*kernel);
  }
  if (unit.from_metallib()) return input::read_input(unit.original, unit.all->front().name);
  KernelModule result;
  result.context = std::make_unique<llvm::LLVMContext>();
  const auto message = std::make_shared<std::string>();
  install_diagnostics(*result.context, message);
  auto module = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(as_text(*unit.bitcode), ""), *result.context);
  if (!module) return fail(Errc::compile_failed, "{}", llvm::toString(module.takeError()));
  if (unit.count < unit.all->size()) keep_own_entries(**module, unit);
  if (auto error = (*module)->materializeAll())
    return fail(Errc::compile_failed, "{}", llvm::toString(std::move(error)));
  if (!message->empty()) return fail(Errc::compile_failed, "{}", *message);
  // Kernel IR is cleaned on its way through the legaliser; finished AIR would keep what other entries needed.
  if (unit.count < unit.all->size() && air::air_version(**module)) air::drop_unreached(**module);
  result.module = std::move(*module);
  return result;
}

}  // namespace smelt::aot
