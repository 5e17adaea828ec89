// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "legalise/legalise.hpp"

#include "interface/module_metadata.hpp"
#include "legalise/passes.hpp"
#include "legalise/tensors.hpp"
#include "verify/checks.hpp"

#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

namespace smelt::aot::air {
namespace {

/// Whether finished AIR (made for Metal by some compiler) goes through the pass too.
enum class Applies : uint8_t { kernel_ir, all };

struct PassRow {
  std::string_view name;
  Result<void> (*run)(PassContext&);
  Applies applies;
};

#define SMELT_PASS(name, applies) {#name, name, Applies::applies}
// The table of contents. What a pass does is one line in passes.hpp, and an essay at the head of its file.
constexpr PassRow kPasses[] = {
    SMELT_PASS(strip_hints, kernel_ir),
    SMELT_PASS(reject_foreign, kernel_ir),
    SMELT_PASS(inline_helpers, kernel_ir),
    SMELT_PASS(entry_allocas, kernel_ir),
    SMELT_PASS(builtins_to_arguments, kernel_ir),
    SMELT_PASS(kernel_arguments, kernel_ir),
    SMELT_PASS(threadgroup_memory, kernel_ir),
    SMELT_PASS(constants_to_space2, kernel_ir),
    SMELT_PASS(infer_address_spaces, kernel_ir),
    SMELT_PASS(cpu_only_operations, kernel_ir),
    SMELT_PASS(reject_double, kernel_ir),
    SMELT_PASS(memory_intrinsics, kernel_ir),
    SMELT_PASS(atomics, all),
    SMELT_PASS(fences, kernel_ir),
    SMELT_PASS(math_intrinsics, kernel_ir),
    SMELT_PASS(plain_memory, kernel_ir),
    SMELT_PASS(bool_vectors, kernel_ir),
    SMELT_PASS(odd_integers, kernel_ir),
    SMELT_PASS(lane_values, kernel_ir),
    SMELT_PASS(split_values, kernel_ir),
    SMELT_PASS(conversions, kernel_ir),
    SMELT_PASS(traps_to_return, kernel_ir),
    SMELT_PASS(merge_byte_geps, kernel_ir),
    SMELT_PASS(expand_pointer_constants, kernel_ir),
    SMELT_PASS(typed_addresses, kernel_ir),
    SMELT_PASS(tensors, kernel_ir),
    SMELT_PASS(matrix_memory, all),
    SMELT_PASS(memory_order_forms, all),
    SMELT_PASS(barriers, all),
    SMELT_PASS(texture_forms, all),
    SMELT_PASS(version_gate, all),
    SMELT_PASS(entry_metadata, all),
    SMELT_PASS(module_metadata, all),
};
#undef SMELT_PASS

Result<void> verify(const llvm::Module& module, std::string_view pass) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!llvm::verifyModule(module, &stream)) return {};
  return fail(Errc::compile_failed, "after {}: {}", pass, text);
}

/// Input that is AIR already comes from anywhere, and its passes change little: what `smelt verify` objects to in a
/// module is in no library that we write of it. Records and operations' types are left to the writer.
Result<void> check_finished(const PassContext& context, const std::string& function) {
  if (!context.finished) return {};
  const ModuleContext expected{.function = function, .stage = context.stage};
  std::vector<Finding> found;
  verify::Findings findings(found);
  verify::check_module_metadata(context.module, expected, findings);
  verify::check_entries(context.module, expected, air_version(context.module).value_or(context.target.air), findings);
  verify::check_limits(context.module, findings);
  verify::check_foreign(context.module, findings);
  for (const Finding& one : found)
    if (one.severity == Finding::Severity::error)
      return fail(Errc::unsupported, "{}{}{}: {}", one.place, one.place.empty() ? "" : ": ", one.message,
                  one.check == Check::foreign ? "AIR does not allow this" : "a library with this does not verify");
  return {};
}

Result<void> run_passes(AirModule& unit, const Target& target, const LegaliseOptions& options) {
  llvm::Module& module = *unit.module;
  const bool finished = air_version(module).has_value();
  module.setModuleIdentifier(unit.function);
  // Before anything asks for a size. Text of finished AIR may leave it out; there is only one.
  if (!finished || module.getDataLayoutStr().empty()) module.setDataLayout(air_data_layout());
  PassContext context{.module = module,
                      .entry = module.getFunction(unit.function),
                      .stage = unit.stage,
                      .target = target,
                      .options = options,
                      .finished = finished,
                      .warnings = unit.warnings};
  SMELT_TRY_VOID(verify(module, "reading"));
  for (const PassRow& pass : kPasses) {
    if (finished && pass.applies == Applies::kernel_ir) continue;
    SMELT_TRY_VOID(pass.run(context));
    if (options.verify_each) SMELT_TRY_VOID(verify(module, pass.name));
    if (options.after_pass) options.after_pass(pass.name, unit.function, module);
    if (options.stop_after == pass.name) return {};
  }
  SMELT_TRY_VOID(verify(module, "legalising"));
  return check_finished(context, unit.function);
}

}  // namespace

Result<std::vector<AirModule>> legalise(KernelModule input, const Target& target, const LegaliseOptions& options) {
  SMELT_TRY(std::vector<AirModule> modules, split_entries(std::move(input)));
  for (AirModule& unit : modules) SMELT_TRY_VOID(run_passes(unit, target, options));
  return modules;
}

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names;
  for (const PassRow& pass : kPasses) names.push_back(pass.name);
  return names;
}

}  // namespace smelt::aot::air
