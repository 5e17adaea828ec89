// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs to units: what each holds, read once.
#include "smelt/aot/object.hpp"
#include "smelt/aot/simulators.hpp"
#include "smelt/metallib/names.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/universal.hpp"

#include "inputs/kind.hpp"
#include "ir/reader.hpp"
#include "llvm_support/bitcode_io.hpp"
#include "units/units.hpp"

#include "llvm/IR/Module.h"

#include <algorithm>

namespace smelt::aot {
namespace {

/// Entry points a unit: few enough to keep all cores busy, many enough that reading the rest of the module again for
/// each unit stays cheap. A constant, because the result must not depend on the number of threads.
constexpr size_t kEntriesPerUnit = 8;

bool is_asked_for(const CompileOptions& options, const std::string& name) {
  return options.functions.empty() ||
         std::find(options.functions.begin(), options.functions.end(), name) != options.functions.end();
}

void note_visible(Gathered& gathered) {
  for (const Unit& unit : gathered.units)
    for (size_t i = unit.first; i < unit.first + unit.count; ++i) {
      if ((*unit.all)[i].stage != air::kVisibleStage) continue;
      gathered.visible.push_back(unit);
      gathered.visible.back().first = i;
      gathered.visible.back().count = 1;
    }
}

/// Only the entry points that were asked for, each a unit of its own; notes the names that are not here.
void keep_asked_for(Gathered& gathered, const CompileOptions& options, const std::vector<std::string>& present) {
  note_visible(gathered);  // a kernel may call what nobody asked for
  if (options.functions.empty()) return;
  std::vector<Unit> kept;
  for (const Unit& unit : gathered.units)
    for (size_t i = unit.first; i < unit.first + unit.count; ++i) {
      if (!is_asked_for(options, (*unit.all)[i].name)) continue;
      kept.push_back(unit);
      kept.back().first = i;
      kept.back().count = 1;
    }
  gathered.units = std::move(kept);
  for (const std::string& name : options.functions)
    if (std::find(present.begin(), present.end(), name) == present.end()) gathered.missing_functions.push_back(name);
}

std::shared_ptr<const std::vector<air::EntryPoint>> shared(std::vector<air::EntryPoint> entries) {
  return std::make_shared<const std::vector<air::EntryPoint>>(std::move(entries));
}

std::vector<std::string> names_of(const std::vector<Unit>& units) {
  std::vector<std::string> names;
  for (const Unit& unit : units)
    for (size_t i = unit.first; i < unit.first + unit.count; ++i) names.push_back((*unit.all)[i].name);
  return names;
}

Result<Gathered> gather_msl(const Source& source, size_t index, const CompileOptions& options) {
  SMELT_TRY(const auto module, msl::translate(as_text(source.bytes), source.name, msl::msl_options(options)));
  Gathered gathered;
  gathered.warnings = module->warnings;
  gathered.dependencies = module->dependencies;
  gathered.missing_kernels = options.kernels;
  if (module->all_kernels.empty() && !options.object && options.functions.empty())
    gathered.warnings.push_back(fmt::format(
        "{}: warning: it has no kernel, vertex or fragment function, so the library is empty", source.name));
  std::vector<air::EntryPoint> all;
  for (const msl::KernelFact& kernel : module->kernels)
    all.push_back({kernel.name,
                   kernel.is_external ? std::string(air::kExternalStage) : std::string(msl::stage_word(kernel.stage))});
  Unit unit{.source = index, .msl = module, .all = shared(std::move(all)), .count = 1};
  for (; unit.first < unit.all->size(); ++unit.first) gathered.units.push_back(unit);
  keep_asked_for(gathered, options, module->all_kernels);
  return gathered;
}

Result<Gathered> gather_ir(const Source& source, size_t index, const CompileOptions& options,
                           const LaunchMetadata& launch) {
  Gathered gathered;
  const input::InputOptions reading{.kernels = options.kernels,
                                    .missing_kernels = &gathered.missing_kernels,
                                    .threads_per_threadgroup = launch.threads_per_threadgroup.value_or(0),
                                    .hidden_pointers = launch.hidden_pointers};
  SMELT_TRY(const KernelModule module, input::read_input(source.bytes, source.name, reading));
  gathered.target = target_of_triple(module.module->getTargetTriple());
  Unit unit{.source = index,
            .bitcode = std::make_shared<const Bytes>(to_bitcode(*module.module)),
            .all = shared(air::entry_points(*module.module))};
  if (unit.all->empty()) return fail(Errc::compile_failed, "{}: it has no entry point", source.name);
  for (unit.first = 0; unit.first < unit.all->size(); unit.first += kEntriesPerUnit) {
    unit.count = std::min(kEntriesPerUnit, unit.all->size() - unit.first);
    gathered.units.push_back(unit);
  }
  keep_asked_for(gathered, options, names_of(gathered.units));
  return gathered;
}

Result<Gathered> gather_metallib(const Source& source, size_t index) {
  SMELT_TRY(const std::vector<metallib::Image> images, metallib::find_images(source.bytes));
  // The slices of a universal file are one library built for several machines; the first will do.
  SMELT_TRY(const metallib::Library library, metallib::read(images.front().bytes));
  if (library.functions.empty()) return fail(Errc::empty_library, "the library has no functions");
  Gathered gathered;
  gathered.target = built_for(library);
  // Nothing is made for a simulator unless it is asked for: packages have no such slices.
  if (gathered.target && is_simulator(*gathered.target)) gathered.target.reset();
  for (const metallib::Function& function : library.functions) {
    Unit unit{.source = index, .original = library.module_of(function).bitcode()};
    const std::string stage = metallib::function_type_name(function.type.value_or(2));
    unit.all = shared({{function.name, stage}});
    unit.count = 1;
    unit.versions = function.versions;
    SMELT_TRY(unit.constants, metallib::constants_of(library.public_of(function)));
    SMELT_TRY(unit.vertex_attributes, metallib::vertex_attributes_of(library.public_of(function)));
    unit.layer_type = function.layer_type;
    unit.tessellation = function.tessellation;
    gathered.units.push_back(std::move(unit));
  }
  return gathered;
}

}  // namespace

Result<Gathered> gather(const Source& source, size_t index, const CompileOptions& options,
                        const LaunchMetadata& launch) {
  switch (input::detect_kind(source.bytes, source.name)) {
    case input::Kind::metallib:
    case input::Kind::universal: {
      auto gathered = gather_metallib(source, index);
      if (!gathered) return tl::unexpected(std::move(gathered).error().in(source.name));
      if (options.kernels.size() > 0) gathered->missing_kernels = options.kernels;
      keep_asked_for(*gathered, options, names_of(gathered->units));
      return gathered;
    }
    case input::Kind::msl:
      return gather_msl(source, index, options);
    default:
      return gather_ir(source, index, options, launch);
  }
}

}  // namespace smelt::aot
