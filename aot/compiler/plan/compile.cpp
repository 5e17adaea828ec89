// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/aot/compile.hpp"

#include "smelt/aot/ready.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/universal.hpp"

#include "inputs/kind.hpp"
#include "ir_reader/parse.hpp"
#include "kernel_ir/attributes.hpp"
#include "llvm_support/guard.hpp"
#include "units/units.hpp"

#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/TypeFinder.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace smelt::aot {
namespace {

std::string printed(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return stream.str();
}

bool is_listed(const llvm::Type* type, const llvm::TypeFinder& listed) {
  const auto* structure = llvm::dyn_cast<llvm::StructType>(type);
  if (structure != nullptr && !structure->isLiteral()) return llvm::is_contained(listed, structure);
  return llvm::all_of(type->subtypes(), [&](const llvm::Type* part) { return is_listed(part, listed); });
}

/// LLVM's text declares no structure that only a function's own metadata has: it would print its address, which differs
/// from run to run and cannot be read again.
void drop_unlisted_pointees(llvm::Module& module) {
  llvm::TypeFinder listed;
  listed.run(module, /*onlyNamed=*/false);
  for (llvm::Function& function : module) {
    const llvm::MDNode* pointees = function.getMetadata(kernel_ir::kPointees);
    if (pointees == nullptr) continue;
    const bool all = llvm::all_of(pointees->operands(), [&](const llvm::MDOperand& operand) {
      const auto* value = llvm::dyn_cast_or_null<llvm::ValueAsMetadata>(operand.get());
      return value == nullptr || is_listed(value->getType(), listed);
    });
    if (!all) function.setMetadata(kernel_ir::kPointees, nullptr);
  }
}

}  // namespace

Result<Compiled> compile(std::span<const Source> sources, const CompileOptions& options) {
  SMELT_TRY(const Plan plan, Plan::make(sources, options));
  std::vector<size_t> all(plan.part_count());
  std::iota(all.begin(), all.end(), size_t{0});
  SMELT_TRY(std::vector<Compiled> parts, plan.build(all));

  Compiled compiled;
  compiled.dependencies = plan.dependencies();
  compiled.warnings = plan.warnings();
  std::set<std::string> warned(compiled.warnings.begin(), compiled.warnings.end());
  for (Compiled& part : parts)
    for (std::string& warning : part.warnings)
      if (warned.insert(warning).second) compiled.warnings.push_back(std::move(warning));
  for (size_t t = 0; t < plan.targets().size(); ++t) {
    CompiledTarget target{.target = plan.targets()[t]};
    std::vector<ByteView> libraries;
    for (Compiled& part : parts) {
      if (part.targets[t].functions.empty()) continue;
      libraries.push_back(part.targets[t].metallib);
      std::move(part.targets[t].functions.begin(), part.targets[t].functions.end(),
                std::back_inserter(target.functions));
    }
    SMELT_TRY(target.metallib, join_libraries(target.target, libraries));
    compiled.targets.push_back(std::move(target));
  }
  return compiled;
}

std::vector<std::string_view> pass_names() {
  return air::pass_names();
}

Result<std::string> emit_ll(std::span<const Source> sources, const CompileOptions& options, std::string_view function) {
  const std::vector<std::string_view> passes = pass_names();
  if (!options.stop_after.empty() && std::find(passes.begin(), passes.end(), options.stop_after) == passes.end())
    return fail(Errc::invalid_argument, "there is no pass '{}'; the passes are, in this order: {}", options.stop_after,
                fmt::join(passes, ", "));
  SMELT_TRY(const PlanState plan, make_plan(sources, options));
  air::LegaliseOptions legalising = legalise_options(plan);
  legalising.stop_after = options.stop_after;
  size_t entries = 0;
  for (const Unit& unit : plan.units) entries += unit.count;
  if (function.empty() && entries != 1)
    return fail(Errc::invalid_argument, "there are {} entry points; name the one to print", entries);
  for (const Unit& unit : plan.units) {
    for (size_t i = unit.first; i < unit.first + unit.count; ++i) {
      if (!function.empty() && (*unit.all)[i].name != function) continue;
      auto text = contained({}, [&]() -> Result<std::string> {
        SMELT_TRY(KernelModule module, open_unit(unit));
        SMELT_TRY(const std::vector<air::AirModule> modules,
                  air::legalise(std::move(module), plan.targets.front(), legalising));
        llvm::Module& made = *modules[i - unit.first].module;
        drop_unlisted_pointees(made);
        return printed(made);
      });
      if (!text) return tl::unexpected(placed(std::move(text).error(), sources[unit.source]));
      return text;
    }
  }
  return fail(Errc::function_not_found, "no input has an entry point '{}'", function);
}

namespace {

Result<std::string> disassemble_here(ByteView file, std::string_view name, std::string_view function) {
  const input::Kind kind = input::detect_kind(file);
  if (kind != input::Kind::metallib && kind != input::Kind::universal) {
    SMELT_TRY(const KernelModule module, input::parse_module(file, name));
    if (!function.empty() && !module.module->getFunction(llvm::StringRef(function.data(), function.size())))
      return fail(Errc::function_not_found, "{}: there is no function '{}' in the module", name, function);
    return printed(*module.module);
  }
  const auto placed_here = [&](Error error) { return tl::unexpected(std::move(error).in(name)); };
  auto images = metallib::find_images(file);
  if (!images) return placed_here(std::move(images).error());
  auto library = metallib::read(images->front().bytes);
  if (!library) return placed_here(std::move(library).error());
  std::string text;
  std::string names;
  for (const metallib::Function& candidate : library->functions) {
    if (names.size() < 400) names += (names.empty() ? "" : ", ") + candidate.name;
    if (!function.empty() && candidate.name != function) continue;
    auto module = input::parse_module(library->module_of(candidate).bitcode(), candidate.name);
    if (!module) return placed_here(std::move(module).error());
    if (!text.empty()) text += '\n';
    text += printed(*module->module);
  }
  if (text.empty())
    return fail(Errc::function_not_found, "{}: there is no function '{}'; the functions are {}", name, function, names);
  return text;
}

}  // namespace

Result<std::string> disassemble(ByteView file, std::string_view name, std::string_view function) {
  return contained(name, [&] { return disassemble_here(file, name, function); });
}

void be_ready() {}

}  // namespace smelt::aot
