// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/aot/plan.hpp"

#include "smelt/metallib/reader.hpp"

#include "bitcode/writer.hpp"
#include "fingerprint/fingerprint_fields.hpp"
#include "interface/reflect.hpp"
#include "legalise/legalise.hpp"
#include "llvm_support/guard.hpp"
#include "units/units.hpp"

#include "llvm/IR/Module.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace smelt::aot {
namespace {

Result<void> check_names(std::span<const Source> sources, const std::vector<Unit>& units) {
  std::map<std::string, size_t> seen;
  for (const Unit& unit : units)
    for (size_t i = unit.first; i < unit.first + unit.count; ++i) {
      const auto [found, added] = seen.emplace((*unit.all)[i].name, unit.source);
      if (added) continue;
      const std::string& first = sources[found->second].name;
      const std::string& second = sources[unit.source].name;
      return fail(Errc::compile_failed, "{}: entry point '{}' is already in {}; names in a library are unique", second,
                  (*unit.all)[i].name, first == second ? "the same input" : first);
    }
  return {};
}

/// Every kernel and function that the options name is in some input.
Result<void> check_found(std::span<const Source> sources, const std::vector<Gathered>& gathered,
                         const CompileOptions& options) {
  const auto first_missing = [&](const std::vector<std::string>& names,
                                 std::vector<std::string> Gathered::* missing) -> const std::string* {
    for (const std::string& name : names)
      if (std::all_of(gathered.begin(), gathered.end(), [&](const Gathered& one) {
            return std::find((one.*missing).begin(), (one.*missing).end(), name) != (one.*missing).end();
          }))
        return &name;
    return nullptr;
  };
  const std::string where = sources.size() == 1 ? sources[0].name : "no input has it";
  if (const std::string* kernel = first_missing(options.kernels, &Gathered::missing_kernels))
    return fail(Errc::compile_failed, "{}: there is no function '{}' to make a kernel of", where, *kernel);
  if (const std::string* function = first_missing(options.functions, &Gathered::missing_functions))
    return fail(Errc::function_not_found, "{}: there is no kernel '{}'", where, *function);
  return {};
}

Result<std::vector<CompiledFunction>> build_functions(const Unit& unit, const Target& target,
                                                      const air::LegaliseOptions& options,
                                                      std::vector<std::string>& warnings) {
  SMELT_TRY(KernelModule module, open_unit(unit));
  SMELT_TRY(std::vector<air::AirModule> modules, air::legalise(std::move(module), target, options));
  std::vector<CompiledFunction> functions;
  for (air::AirModule& one : modules) {
    // A module of a library may hold more than the function that the library shows.
    if (unit.from_metallib() && one.function != unit.all->front().name) continue;
    CompiledFunction function;
    SMELT_TRY(function.info, air::reflect(*one.module, one.function));
    SMELT_TRY(function.bitcode,
              bitcode::write_bitcode(*one.module,
                                     {.air = function.info.air, .wrap = false, .keep_debug = options.debug_lines}));
    functions.push_back(std::move(function));
    std::move(one.warnings.begin(), one.warnings.end(), std::back_inserter(warnings));
  }
  if (functions.size() != unit.count)
    return fail(Errc::corrupt, "the module has no entry point '{}'", (*unit.all)[unit.first].name);
  return functions;
}

Result<void> add_unit(Hasher& hasher, const Unit& unit) {
  if (unit.msl) {
    SMELT_TRY(const msl::MslKernel* const kernel, unit.msl->kernel(unit.first));
    hasher.field(ByteView(digest_of(*kernel).bytes));
    return {};
  }
  hasher.field(unit.bitcode ? ByteView(*unit.bitcode) : unit.original);
  for (size_t i = unit.first; i < unit.first + unit.count; ++i) {
    hasher.field((*unit.all)[i].name);
    hasher.field((*unit.all)[i].stage);
  }
  hasher.field(uint64_t{unit.constants.size()});
  for (const metallib::Constant& constant : unit.constants) {
    hasher.field(constant.name);
    for (const uint64_t number : {uint64_t{constant.type}, uint64_t{constant.index}, uint64_t{constant.active}})
      hasher.field(number);
  }
  for (const metallib::VertexAttribute& attribute : unit.vertex_attributes) {
    hasher.field(attribute.name);
    for (const uint64_t number :
         {uint64_t{attribute.index}, uint64_t{attribute.use}, uint64_t{attribute.active}, uint64_t{attribute.type}})
      hasher.field(number);
  }
  for (const std::optional<uint8_t>& number : {unit.layer_type, unit.tessellation})
    if (number) hasher.field(uint64_t{*number} + 1);
  return {};
}

}  // namespace

air::LegaliseOptions legalise_options(const PlanState& plan) {
  const CompileOptions& options = plan.options;
  air::LegaliseOptions result;
  result.math = options.math;
  result.threadgroup_memory = plan.launch.threadgroup_memory;
  result.threads_per_threadgroup = plan.launch.threads_per_threadgroup;
  result.language = options.language;
#define SMELT_FLAG(member, ...) result.member = options.member;
#include "smelt/aot/options.def"
  result.allow_undefined = options.object;
  return result;
}

namespace {

/// Whether some of its entry points may be given a table.
bool may_call_visible(const Unit& unit) {
  for (size_t i = unit.first; i < unit.first + unit.count; ++i)
    if ((*unit.all)[i].stage != air::kVisibleStage) return true;
  return false;
}

Result<Digest> visible_digest(const PlanState& plan) {
  VisibleFunctions& all = *plan.built_visible;
  const std::lock_guard lock(all.lock);
  if (!all.digest) {
    Hasher hasher;
    for (const Unit& unit : plan.visible) SMELT_TRY_VOID(add_unit(hasher, unit));
    all.digest = hasher.finish();
  }
  return *all.digest;
}

Result<std::span<const CompiledFunction>> built_visible(const PlanState& plan, size_t target, bool of_libraries) {
  VisibleFunctions& all = *plan.built_visible;
  const std::lock_guard lock(all.lock);
  const auto [known, is_new] = all.built.try_emplace({target, of_libraries});
  if (!is_new) return known->second;
  std::vector<CompiledFunction> made;
  for (const Unit& unit : plan.visible) {
    if (unit.from_metallib() && !of_libraries) continue;
    std::vector<std::string> warnings;  // of its own part
    auto functions =
        contained({}, [&] { return build_functions(unit, plan.targets[target], legalise_options(plan), warnings); });
    if (!functions) {
      all.built.erase(known);
      return tl::unexpected(placed(std::move(functions).error(), plan.sources[unit.source]));
    }
    std::move(functions->begin(), functions->end(), std::back_inserter(made));
  }
  return known->second = std::move(made);
}

}  // namespace

/// What is for the CPU alone has code there, or is nowhere.
Result<void> check_all_on_cpu(const std::vector<Unit>& units) {
  for (const Unit& unit : units)
    for (size_t i = unit.first; i < unit.first + unit.count; ++i)
      if (const air::EntryPoint& entry = (*unit.all)[i]; !air::runs_on_cpu(entry.stage))
        return fail(Errc::function_kind, "'{}' is {}", entry.name, air::why_not_on_cpu(entry.stage));
  return {};
}

Result<PlanState> make_plan(std::span<const Source> sources, const CompileOptions& options) {
  if (sources.empty()) return fail(Errc::invalid_argument, "nothing to compile: no input was given");
  PlanState plan{.sources = sources, .options = options};
  SMELT_TRY(plan.launch, parse_launch_metadata(options.metadata_json));
  if (options.threadgroup_memory) plan.launch.threadgroup_memory = options.threadgroup_memory;
  if (options.threads_per_threadgroup) plan.launch.threads_per_threadgroup = options.threads_per_threadgroup;

  std::vector<Gathered> gathered(sources.size());
  SMELT_TRY_VOID(run_tasks(sources.size(), options.threads, [&](size_t i) -> Result<void> {
    SMELT_TRY(gathered[i], contained(sources[i].name, [&] { return gather(sources[i], i, options, plan.launch); }));
    return {};
  }));
  SMELT_TRY_VOID(check_found(sources, gathered, options));

  plan.targets = options.targets;
  if (plan.targets.empty()) {
    const std::optional<Target>& first = gathered[0].target;
    const bool all_the_same = std::all_of(gathered.begin(), gathered.end(), [&](const Gathered& one) {
      return one.target && first && one.target->triple == first->triple && one.target->air == first->air &&
             one.target->container_patch == first->container_patch;
    });
    plan.targets.push_back(all_the_same ? *first : default_target());
  }
  if (options.language)
    for (Target& target : plan.targets) target.language = *options.language;
  for (Gathered& one : gathered) {
    std::move(one.units.begin(), one.units.end(), std::back_inserter(plan.units));
    std::move(one.visible.begin(), one.visible.end(), std::back_inserter(plan.visible));
    std::move(one.warnings.begin(), one.warnings.end(), std::back_inserter(plan.warnings));
    for (std::string& file : one.dependencies)
      if (std::find(plan.dependencies.begin(), plan.dependencies.end(), file) == plan.dependencies.end())
        plan.dependencies.push_back(std::move(file));
  }
  SMELT_TRY_VOID(check_names(sources, plan.units));
  if (options.cpu_only) SMELT_TRY_VOID(check_all_on_cpu(plan.units));
  return plan;
}

Result<Plan> Plan::make(std::span<const Source> sources, const CompileOptions& options) {
  SMELT_TRY(PlanState state, make_plan(sources, options));
  return Plan(std::make_shared<const PlanState>(std::move(state)));
}

const std::vector<Target>& Plan::targets() const {
  return state_->targets;
}
size_t Plan::part_count() const {
  return state_->units.size();
}
size_t Plan::entry_count(size_t part) const {
  return state_->units[part].count;
}
std::vector<std::string> Plan::entry_names(size_t part) const {
  const Unit& unit = state_->units[part];
  std::vector<std::string> names;
  for (size_t i = unit.first; i < unit.first + unit.count; ++i) names.push_back((*unit.all)[i].name);
  return names;
}
size_t Plan::source_of(size_t part) const {
  return state_->units[part].source;
}
Result<std::optional<Bytes>> Plan::part_as_library(size_t part) const {
  const Unit& unit = state_->units[part];
  if (!unit.from_metallib()) return std::optional<Bytes>();
  std::vector<const Unit*> units{&unit};
  std::span<const CompiledFunction> of_source;
  if (may_call_visible(unit)) {
    for (const Unit& visible : state_->visible)
      if (visible.from_metallib()) units.push_back(&visible);
    SMELT_TRY(of_source, built_visible(*state_, 0, false));
  }
  auto library = original_library(state_->targets.front(), units, of_source);
  if (!library)  // what it holds is no module
    return fail(Errc::corrupt, "{}: {}", state_->sources[unit.source].name, library.error().message);
  return std::optional(std::move(*library));
}

const std::vector<std::string>& Plan::warnings() const {
  return state_->warnings;
}
const std::vector<std::string>& Plan::dependencies() const {
  return state_->dependencies;
}

Result<Digest> Plan::key(size_t part) const {
  Hasher hasher;
  hasher.field("part");
  hasher.field(uint64_t{state_->options.object});  // whether a call may lead out
  add_code_options(hasher, state_->options);
  add_number(hasher, "threadgroup_memory", state_->launch.threadgroup_memory);
  add_number(hasher, "threads_per_threadgroup", state_->launch.threads_per_threadgroup);
  hasher.field(uint64_t{state_->targets.size()});
  for (const Target& target : state_->targets) add_target(hasher, target);
  SMELT_TRY_VOID(add_unit(hasher, state_->units[part]));
  if (!state_->visible.empty() && may_call_visible(state_->units[part])) {
    SMELT_TRY(const Digest visible, visible_digest(*state_));
    hasher.field(ByteView(visible.bytes));
  }
  return hasher.finish();
}

Result<std::span<const CompiledFunction>> Plan::visible_functions(size_t part, size_t target) const {
  return built_visible(*state_, target, state_->units[part].from_metallib());
}

Result<std::vector<Compiled>> Plan::build(std::span<const size_t> parts) const {
  const PlanState& plan = *state_;
  const air::LegaliseOptions legalising = legalise_options(plan);
  const size_t targets = plan.targets.size();
  size_t total = 0;
  for (const size_t part : parts) total += plan.units[part].count * targets;
  size_t done = 0;
  std::mutex progress_lock;
  std::vector<Compiled> built(parts.size());
  for (Compiled& one : built)
    for (const Target& target : plan.targets) one.targets.push_back({.target = target});
  std::vector<std::vector<std::string>> warnings(parts.size() * targets);
  // Parts first, then their targets: an error is about the first input that has one.
  SMELT_TRY_VOID(run_tasks(parts.size() * targets, plan.options.threads, [&](size_t i) -> Result<void> {
    const Unit& unit = plan.units[parts[i / targets]];
    const Source& source = plan.sources[unit.source];
    CompiledTarget& result = built[i / targets].targets[i % targets];
    auto functions =
        contained({}, [&] { return build_functions(unit, plan.targets[i % targets], legalising, warnings[i]); });
    if (!functions) return tl::unexpected(placed(std::move(functions).error(), source));
    result.functions = std::move(*functions);
    SMELT_TRY(result.metallib, make_metallib(result, unit));
    if (plan.options.progress) {
      const std::lock_guard lock(progress_lock);
      plan.options.progress(done += unit.count, total);
    }
    return {};
  }));
  for (size_t i = 0; i < warnings.size(); ++i)
    std::move(warnings[i].begin(), warnings[i].end(), std::back_inserter(built[i / targets].warnings));
  return built;
}

}  // namespace smelt::aot
