#include "smelt/aot/compile.hpp"

#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/universal.hpp"

#include "air/bitcode/writer.hpp"
#include "air/legalise.hpp"
#include "air/reflect.hpp"
#include "compile_units.hpp"
#include "input/deep_stack.hpp"
#include "input/kind.hpp"
#include "input/reader.hpp"
#include "launch_metadata.hpp"

#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

namespace smelt::aot {
namespace {

/// Everything read, nothing built.
struct Plan {
  std::vector<Unit> units;
  std::vector<std::string> warnings, dependencies;
  std::vector<Target> targets;
  LaunchMetadata launch;
};

air::LegaliseOptions legalise_options(const CompileOptions& options, const Plan& plan) {
  air::LegaliseOptions result;
  result.fast_math = options.fast_math;
  result.threadgroup_memory = plan.launch.threadgroup_memory;
  result.threads_per_threadgroup = plan.launch.threads_per_threadgroup;
  result.language = options.language;
  result.pack_scalars = options.pack_scalars;
  result.buffers_do_not_overlap = options.buffers_do_not_overlap;
  result.relaxed_atomics = options.relaxed_atomics;
  result.keep_debug = options.debug_lines;
  return result;
}

Result<void> check_names(std::span<const Source> sources, const std::vector<Unit>& units) {
  std::map<std::string, size_t> seen;
  for (const Unit& unit : units)
    for (size_t i = unit.first; i < unit.first + unit.count; ++i) {
      const auto [found, added] = seen.emplace(unit.all[i].name, unit.source);
      if (added) continue;
      const std::string& first = sources[found->second].name;
      const std::string& second = sources[unit.source].name;
      return fail(Errc::compile_failed, "{}: entry point '{}' is already in {}; a library has one of each name", second,
                  unit.all[i].name, first == second ? "the same input" : first);
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

Result<Plan> make_plan(std::span<const Source> sources, const CompileOptions& options) {
  if (sources.empty()) return fail(Errc::invalid_argument, "nothing to compile: no input was given");
  Plan plan;
  SMELT_TRY(plan.launch, parse_launch_metadata(options.metadata_json));
  if (options.threadgroup_memory) plan.launch.threadgroup_memory = options.threadgroup_memory;
  if (options.threads_per_threadgroup) plan.launch.threads_per_threadgroup = options.threads_per_threadgroup;

  std::vector<Gathered> gathered(sources.size());
  SMELT_TRY_VOID(run_tasks(sources.size(), options.threads, [&](size_t i) -> Result<void> {
    SMELT_TRY(gathered[i], gather(sources[i], i, options, plan.launch));
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
  for (Gathered& one : gathered) {
    std::move(one.units.begin(), one.units.end(), std::back_inserter(plan.units));
    std::move(one.warnings.begin(), one.warnings.end(), std::back_inserter(plan.warnings));
    for (std::string& file : one.dependencies)
      if (std::find(plan.dependencies.begin(), plan.dependencies.end(), file) == plan.dependencies.end())
        plan.dependencies.push_back(std::move(file));
  }
  SMELT_TRY_VOID(check_names(sources, plan.units));
  return plan;
}

struct Built {
  std::vector<CompiledFunction> functions;
  std::vector<std::string> warnings;
};

Result<Built> build(const Unit& unit, const Target& target, const air::LegaliseOptions& options) {
  SMELT_TRY(KernelModule module, open_unit(unit, target));
  SMELT_TRY(std::vector<air::AirModule> modules, air::legalise(std::move(module), target, options));
  Built built;
  for (air::AirModule& one : modules) {
    // A module of a library may hold more than the function that the library shows.
    if (unit.from_metallib() && one.function != unit.all.front().name) continue;
    CompiledFunction function;
    SMELT_TRY(function.info, air::reflect(*one.module, one.function));
    SMELT_TRY(function.bitcode,
              bitcode::write_bitcode(*one.module,
                                     {.air = function.info.air, .wrap = false, .keep_debug = options.keep_debug}));
    built.functions.push_back(std::move(function));
    std::move(one.warnings.begin(), one.warnings.end(), std::back_inserter(built.warnings));
  }
  if (built.functions.size() != unit.count)
    return fail(Errc::corrupt, "the module has no entry point '{}'", unit.all[unit.first].name);
  return built;
}

/// A library of Metal source may hold instantiations that no GPU can run; Metal says so when a pipeline is made of
/// them.
bool leaves_out(const Unit& unit, const Plan& plan, const Error& error) {
  return unit.msl && plan.units.size() > 1 && error.code == Errc::threadgroup_memory_too_large;
}

std::string printed(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return stream.str();
}

}  // namespace

Result<Compiled> compile(std::span<const Source> sources, const CompileOptions& options) {
  SMELT_TRY(const Plan plan, make_plan(sources, options));
  const air::LegaliseOptions legalising = legalise_options(options, plan);
  const size_t unit_count = plan.units.size();

  size_t total = 0;
  for (const Unit& unit : plan.units) total += unit.count * plan.targets.size();
  size_t done = 0;
  std::mutex progress_lock;
  std::vector<Built> built(unit_count * plan.targets.size());
  // Units first, then their targets: an error is about the first input that has one.
  SMELT_TRY_VOID(run_tasks(built.size(), options.threads, [&](size_t i) -> Result<void> {
    const Unit& unit = plan.units[i / plan.targets.size()];
    auto result = build(unit, plan.targets[i % plan.targets.size()], legalising);
    if (!result && leaves_out(unit, plan, result.error())) {
      built[i].warnings.push_back(fmt::format("{}: left out: {}", sources[unit.source].name, result.error().message));
      return {};
    }
    if (!result) return tl::unexpected(placed(std::move(result).error(), sources[unit.source]));
    built[i] = std::move(*result);
    if (options.progress) {
      const std::lock_guard lock(progress_lock);
      options.progress(done += unit.count, total);
    }
    return {};
  }));

  Compiled compiled;
  compiled.dependencies = plan.dependencies;
  compiled.warnings = plan.warnings;
  std::set<std::string> warned(plan.warnings.begin(), plan.warnings.end());
  for (size_t t = 0; t < plan.targets.size(); ++t) {
    CompiledTarget target{.target = plan.targets[t]};
    if (options.language) target.target.language = *options.language;
    std::vector<const Unit*> unit_of;
    for (size_t u = 0; u < unit_count; ++u) {
      Built& part = built[u * plan.targets.size() + t];
      for (CompiledFunction& function : part.functions) {
        target.functions.push_back(std::move(function));
        unit_of.push_back(&plan.units[u]);
      }
      for (std::string& warning : part.warnings)
        if (warned.insert(warning).second) compiled.warnings.push_back(std::move(warning));
    }
    SMELT_TRY(target.metallib, make_metallib(target, unit_of));
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
    return fail(Errc::invalid_argument, "there is no pass '{}'; there are, in this order: {}", options.stop_after,
                fmt::join(passes, ", "));
  SMELT_TRY(const Plan plan, make_plan(sources, options));
  air::LegaliseOptions legalising = legalise_options(options, plan);
  legalising.stop_after = options.stop_after;
  size_t entries = 0;
  for (const Unit& unit : plan.units) entries += unit.count;
  if (function.empty() && entries != 1)
    return fail(Errc::invalid_argument, "there are {} entry points; text is of one: name it", entries);
  for (const Unit& unit : plan.units) {
    for (size_t i = unit.first; i < unit.first + unit.count; ++i) {
      if (!function.empty() && unit.all[i].name != function) continue;
      Result<std::string> text;
      input::run_deep([&] {
        text = [&]() -> Result<std::string> {
          SMELT_TRY(KernelModule module, open_unit(unit, plan.targets.front()));
          SMELT_TRY(const std::vector<air::AirModule> modules,
                    air::legalise(std::move(module), plan.targets.front(), legalising));
          return printed(*modules[i - unit.first].module);
        }();
      });
      if (!text) return tl::unexpected(placed(std::move(text).error(), sources[unit.source]));
      return text;
    }
  }
  return fail(Errc::function_not_found, "no input has an entry point '{}'", function);
}

Result<std::string> disassemble(ByteView file, std::string_view name, std::string_view function) {
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
    return fail(Errc::function_not_found, "{}: there is no function '{}'; there are {}", name, function, names);
  return text;
}

}  // namespace smelt::aot
