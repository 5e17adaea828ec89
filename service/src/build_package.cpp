// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiler output to a package: metallib slices, CPU slices made from the finished metallib, and the manifest. Each
// part of the plan becomes a library of its own, out of the store or fresh, and the package is all of them joined; so
// it is the same whatever the store had.
#include "build_package.hpp"

#include "smelt/aot/fingerprint.hpp"
#include "smelt/aot/limits.hpp"
#include "smelt/aot/plan.hpp"
#include "smelt/base/tasks.hpp"
#include "smelt/schema/cpu_slice.hpp"
#include "smelt/schema/package.hpp"

#include "asked.hpp"
#include "join_parts.hpp"
#include "traces.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <thread>

namespace smelt::service {

namespace {

/// Dimensions of the grid that the kernel tells apart, where it is more than one.
uint32_t grid_rank(const aot::KernelInfo& info) {
  static constexpr std::string_view kPlaces[] = {
      "air.thread_position_in_grid",        "air.threads_per_grid",      "air.threadgroup_position_in_grid",
      "air.thread_position_in_threadgroup", "air.threadgroups_per_grid", "air.threads_per_threadgroup"};
  uint32_t rank = 0;
  for (const aot::ArgumentInfo& argument : info.arguments)
    if (argument.kind == aot::ArgumentKind::builtin &&
        std::ranges::find(kPlaces, argument.air_kind) != std::end(kPlaces))
      rank = std::max(rank, std::min(argument.count, 3U));
  return rank > 1 ? rank : 0;
}

}  // namespace

schema::Function manifest_function(const aot::KernelInfo& info) {
  schema::Function made;
  made.name = info.name;
  made.kind = function_kind(info.stage).value_or(FunctionKind::unqualified);
  made.max_threads = info.max_threads;
  made.grid_rank = grid_rank(info);
  made.threadgroup_bytes = static_cast<uint32_t>(info.threadgroup_bytes);
  const auto add = [&](const aot::ArgumentInfo& from) {
    made.arguments.push_back({from.name, from.type_name, from.index, from.location, from.kind, from.access,
                              from.address_space, from.unused, from.conditional, from.count, from.size, from.align,
                              from.members});
  };
  const auto is_array = [&](const aot::ArgumentInfo& from) {
    return std::any_of(info.arrays.begin(), info.arrays.end(), [&](const aot::ArgumentInfo& array) {
      return array.kind == aot::ArgumentKind::stage_input && array.index == from.index;
    });
  };
  for (const aot::ArgumentInfo& from : info.arguments)
    if (from.kind != aot::ArgumentKind::builtin && !is_array(from)) add(from);  // of a built-in nothing is bound
  for (const aot::ArgumentInfo& from : info.arrays) add(from);
  for (const aot::ConstantInfo& from : info.constants)
    made.constants.push_back({from.name, from.type_name, from.index, from.required});
  return made;
}

namespace {

schema::Slice metallib_slice(aot::CompiledTarget& compiled) {
  schema::Slice slice;
  slice.target = compiled.target.name;
  slice.kind = schema::SliceKind::metallib;
  slice.platform = compiled.target.platform;
  slice.os = compiled.target.os;
  slice.air = compiled.target.air;
  for (const aot::CompiledFunction& from : compiled.functions) {
    schema::Presence presence;
    presence.metal = from.info.language;
    presence.air = from.info.air;
    if (from.info.cpu_only) {
      presence.missing = true;
      presence.reason =
          "it is for the CPU alone: it computes in double precision, has atomics of 64 bits, or uses more threadgroup "
          "memory than Apple GPUs have";
    }
    slice.functions.push_back(std::move(presence));
  }
  slice.bytes = std::move(compiled.metallib);
  return slice;
}

}  // namespace

Result<schema::Slice> cpu_slice(const aot::CompiledTarget& from, const CpuCode& code,
                                std::span<const aot::CompiledFunction> visible) {
  const auto [level, checked, effort] = code;
  std::vector<aot::AirModuleView> modules;
  for (const aot::CompiledFunction& made : from.functions) modules.push_back({made.info.name, made.bitcode});
  std::vector<aot::AirModuleView> callable;
  for (const aot::CompiledFunction& made : visible) callable.push_back({made.info.name, made.bitcode});
  SMELT_TRY(auto compiled,
            aot::compile_cpu(modules, {.level = level, .effort = effort, .checked = checked, .visible = callable}));
  schema::Slice slice;
  slice.target = fmt::format("cpu-{}{}", aot::to_string(level), checked.suffix());
  slice.kind = schema::SliceKind::cpu;
  slice.arch = static_cast<uint32_t>(row_of(level).arch);
  slice.level = row_of(level).number;
  slice.checked = checked;
  slice.air = from.target.air;
  for (const aot::CompiledFunction& made : from.functions) {
    schema::Presence presence;
    presence.metal = made.info.language;
    presence.air = made.info.air;
    const auto missing = std::find_if(compiled.missing.begin(), compiled.missing.end(),
                                      [&](const aot::CpuMissing& one) { return one.name == made.info.name; });
    if (missing != compiled.missing.end()) {
      presence.missing = true;
      presence.reason = missing->reason;
    }
    slice.functions.push_back(std::move(presence));
  }
  slice.bytes = std::move(compiled.slice);
  return slice;
}

namespace {

bool calls_through_table(const aot::CompiledFunction& function) {
  return std::any_of(function.info.arguments.begin(), function.info.arguments.end(),
                     [](const aot::ArgumentInfo& one) { return one.kind == aot::ArgumentKind::function_table; });
}

/// Everything of one part: what the whole library has of it.
Result<schema::Library> part_library(aot::Compiled part, const aot::Plan& plan, size_t index, const Request& request,
                                     const std::vector<aot::CpuLevel>& levels) {
  schema::Library library;
  library.compiler = aot::compiler_identity();
  // CPU code comes from what a Mac of the newest target would be given.
  const auto newest = std::max_element(part.targets.begin(), part.targets.end(),
                                       [](const auto& a, const auto& b) { return a.target.air < b.target.air; });
  if (newest->functions.empty()) return library;
  library.name = newest->functions.front().info.name;
  for (const aot::CompiledFunction& made : newest->functions) library.functions.push_back(manifest_function(made.info));
  std::vector<schema::Slice> native;
  std::span<const aot::CompiledFunction> visible;
  if (!levels.empty() && std::any_of(newest->functions.begin(), newest->functions.end(), calls_through_table)) {
    SMELT_TRY(visible, plan.visible_functions(index, static_cast<size_t>(newest - part.targets.begin())));
  }
  for (const aot::CpuLevel level : levels) {
    SMELT_TRY(auto slice, cpu_slice(*newest, {level, request.checked, request.effort}, visible));
    native.push_back(std::move(slice));
  }
  for (aot::CompiledTarget& target : part.targets) library.slices.push_back(metallib_slice(target));
  std::move(native.begin(), native.end(), std::back_inserter(library.slices));
  return library;
}

}  // namespace

Result<std::vector<aot::CpuLevel>> cpu_levels(const Request& request) {
  if (!request.cpu) return std::vector<aot::CpuLevel>();
  if (!request.levels.empty()) return request.levels;
  SMELT_TRY(const auto host, aot::host_cpu_level());
  return std::vector{host};
}

namespace {

/// Of sources without entry points, as Metal makes one: a Metal library for each target, and no CPU code.
Result<schema::Library> library_without_functions(const std::vector<aot::Target>& targets) {
  schema::Library library;
  library.compiler = aot::compiler_identity();
  library.name = "no functions";
  for (const aot::Target& target : targets) {
    aot::CompiledTarget compiled{.target = target};
    SMELT_TRY(compiled.metallib, aot::join_libraries(target, {}));
    library.slices.push_back(metallib_slice(compiled));
  }
  return library;
}

/// Parts of a plan as they come to be, each kept in the store for whoever is interrupted. Counted from 0 here, whatever
/// they are in the plan.
class Parts {
 public:
  /// `keys`: of the parts `which`. `asked`: what each of them is.
  Parts(const aot::Plan& plan, std::span<const size_t> which, std::vector<Digest> keys, const Request& request,
        const std::vector<aot::CpuLevel>& levels, const KernelStore& store, const Progress& progress)
      : plan_(plan),
        which_(which),
        request_(request),
        levels_(levels),
        store_(store),
        progress_(progress),
        keys_(std::move(keys)) {
    std::vector<Asked> asked;
    for (const size_t part : which) asked.push_back(asked_of(plan, part, request, levels));
    kernels_ = store.find(keys_, asked);
    for (size_t i = 0; i < kernels_.size(); ++i) {
      if (kernels_[i])
        trace_part(kept_, *kernels_[i], true);
      else
        missing_.push_back(i);
    }
  }
  /// Whatever was made until then.
  ~Parts() { keep(); }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  const std::vector<size_t>& missing() const { return missing_; }
  /// All of them: valid as long as this is.
  std::vector<std::optional<KeptKernel>>& all() {
    keep();
    return kernels_;
  }
  /// What the store had is missing after all. False: it had nothing.
  bool pass_over_kept() {
    missing_.clear();
    for (size_t i = 0; i < kernels_.size(); ++i) {
      if (!kernels_[i]->kept) continue;
      kernels_[i].reset();
      missing_.push_back(i);
    }
    done_ = 0;
    return !missing_.empty();
  }

  /// What can be made elsewhere is missing no longer.
  Result<void> make_elsewhere(const MakeElsewhere& make, unsigned threads) {
    std::vector<size_t> left;
    const size_t wanted = missing_.size();
    SMELT_TRY_VOID(each_missing(threads, [&](size_t i) -> Result<void> {
      const auto start = TraceClock::now();
      SMELT_TRY(auto made, make(plan_, which_[missing_[i]]));
      if (made) trace_part(start, *made, false);
      const std::lock_guard guard(lock_);
      if (made)
        add(missing_[i], std::move(*made), request_.cpu ? "cpu code" : "kernels", wanted);
      else
        left.push_back(missing_[i]);
      return {};
    }));
    std::sort(left.begin(), left.end());
    missing_ = std::move(left);
    done_ = 0;
    return {};
  }

  Result<void> make_here(unsigned threads) {
    std::vector<size_t> parts;
    for (const size_t i : missing_) parts.push_back(which_[i]);
    SMELT_TRY(std::vector<aot::Compiled> compiled, plan_.build(parts));
    return each_missing(threads, [&](size_t i) -> Result<void> {
      const auto start = TraceClock::now();
      KeptKernel made(signing::Provenance::made_here());
      made.warnings = std::move(compiled[i].warnings);
      SMELT_TRY(made.library, part_library(std::move(compiled[i]), plan_, parts[i], request_, levels_));
      trace_part(start, made, false);
      const std::lock_guard guard(lock_);
      add(missing_[i], std::move(made), request_.cpu ? "cpu code" : "", missing_.size());
      return {};
    });
  }

 private:
  Result<void> each_missing(unsigned threads, const std::function<Result<void>(size_t)>& make) const {
    const aot::Watch* const watch = aot::current_watch();
    return run_tasks(missing_.size(), threads, [&](size_t i) -> Result<void> {
      const aot::Inherited limits(watch);
      return make(i);
    });
  }

  void add(size_t part, KeptKernel made, std::string_view stage, size_t wanted) {
    kernels_[part] = std::move(made);
    unkept_.push_back(part);
    if (std::chrono::steady_clock::now() - kept_ > std::chrono::seconds(2)) keep();
    if (progress_ && !stage.empty()) progress_(stage, ++done_, wanted);
  }

  void keep() {
    const auto now = std::chrono::steady_clock::now();
    store_.keep(keys_, kernels_, unkept_, std::chrono::duration_cast<std::chrono::microseconds>(now - kept_));
    unkept_.clear();
    kept_ = now;
  }

  const aot::Plan& plan_;
  const std::span<const size_t> which_;
  const Request& request_;
  const std::vector<aot::CpuLevel>& levels_;
  const KernelStore& store_;
  const Progress& progress_;
  std::vector<Digest> keys_;
  std::vector<std::optional<KeptKernel>> kernels_;
  std::vector<size_t> missing_;
  std::mutex lock_;  // of what follows, while parts are made
  std::vector<size_t> unkept_;
  size_t done_ = 0;
  std::chrono::steady_clock::time_point kept_ = std::chrono::steady_clock::now();
};

}  // namespace

Digest source_digest(const Request& request) {
  Hasher source;
  for (const aot::Source& input : request.sources) source.field(input.bytes);
  return source.finish();
}

Result<aot::Plan> make_plan(const Request& request, unsigned threads, const Progress& progress) {
  aot::CompileOptions options = request.options;
  options.threads = threads != 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
  if (options.cache_folder.empty()) options.cache_folder = precompiled_folder().string();
  if (progress) options.progress = [progress](size_t done, size_t total) { progress("kernels", done, total); };
  return aot::Plan::make(request.sources, options);
}

Result<std::vector<Digest>> part_keys(const aot::Plan& plan, std::span<const size_t> parts, const Request& request,
                                      const std::vector<aot::CpuLevel>& levels) {
  std::vector<Digest> keys;
  for (const size_t part : parts) {
    SMELT_TRY(const Digest key, plan.key(part));
    keys.push_back(kernel_key(key, levels, request.checked, request.effort));
  }
  return keys;
}

namespace {

/// The package of all parts.
Result<Built> join_all(const std::vector<std::optional<KeptKernel>>& parts, const aot::Plan& plan,
                       const Request& request) {
  Built result(signing::Provenance::made_here());
  result.warnings = plan.warnings();
  std::vector<const schema::Library*> libraries;
  for (const std::optional<KeptKernel>& part : parts) {
    result.origin += part->origin;
    for (const std::string& warning : part->warnings)
      if (std::find(result.warnings.begin(), result.warnings.end(), warning) == result.warnings.end())
        result.warnings.push_back(warning);
    if (!part->library.functions.empty()) libraries.push_back(&part->library);
  }
  if (libraries.empty() && plan.part_count() != 0)
    // Kernels that were there and could not be made are among the warnings.
    return fail(Errc::empty_library, "no kernels in {}{}",
                request.sources.empty() ? "no input" : request.sources[0].name,
                result.warnings.empty() ? "" : ": " + result.warnings.back());
  schema::Library library;
  if (libraries.empty()) {
    SMELT_TRY(library, library_without_functions(plan.targets()));
  } else {
    SMELT_TRY(library, join_parts(plan.targets(), libraries));
  }
  if (!request.name.empty()) library.name = request.name;
  library.version = request.version;
  library.source = source_digest(request);
  SMELT_TRY(result.package, schema::write_package(std::span(&library, 1)));
  return result;
}

}  // namespace

Result<Built> build_parts(const aot::Plan& plan, std::span<const size_t> which, const Request& request,
                          unsigned threads, const Progress& progress, const KernelStore& store,
                          const MakeElsewhere& elsewhere) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  SMELT_TRY(const std::vector<aot::CpuLevel> levels, cpu_levels(request));
  SMELT_TRY(std::vector<Digest> keys, part_keys(plan, which, request, levels));

  Built result(signing::Provenance::made_here());
  Parts parts(plan, which, std::move(keys), request, levels, store, progress);
  for (const size_t part : which) result.kernels += plan.entry_count(part);
  result.kernels_kept = result.kernels;
  for (const size_t part : parts.missing()) result.kernels_kept -= plan.entry_count(which[part]);
  const auto make_missing = [&]() -> Result<void> {
    if (elsewhere) SMELT_TRY_VOID(parts.make_elsewhere(elsewhere, threads));
    return parts.make_here(threads);
  };
  SMELT_TRY_VOID(make_missing());
  auto joined = join_all(parts.all(), plan, request);
  if (!joined && joined.error().code != Errc::empty_library && parts.pass_over_kept()) {
    // What a store or a remote has costs time at worst.
    result.kernels_kept = 0;
    SMELT_TRY_VOID(make_missing());
    joined = join_all(parts.all(), plan, request);
  }
  if (!joined) return tl::unexpected(std::move(joined).error());
  result.package = std::move(joined->package);
  result.warnings = std::move(joined->warnings);
  result.origin = std::move(joined->origin);
  return result;
}

Result<Built> build_package(const Request& request, unsigned threads, const Progress& progress,
                            const KernelStore& store, const MakeElsewhere& elsewhere) {
  SMELT_TRY(const aot::Plan plan, make_plan(request, threads, progress));
  std::vector<size_t> all(plan.part_count());
  std::iota(all.begin(), all.end(), size_t{0});
  return build_parts(plan, all, request, threads, progress, store, elsewhere);
}

Result<Bytes> build_package(const Request& request, unsigned threads, const Progress& progress,
                            std::vector<std::string>* warnings) {
  SMELT_TRY(Built built, build_package(request, threads, progress, KernelStore()));
  if (warnings) *warnings = std::move(built.warnings);
  return std::move(built.package);
}

}  // namespace smelt::service
