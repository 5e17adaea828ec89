// Compiler output to a package: metallib slices, CPU slices made from the finished metallib, and the manifest.
#include "smelt/aot/fingerprint.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/service/session.hpp"

#include <algorithm>
#include <mutex>
#include <thread>

namespace smelt::service {
namespace {

schema::Version version(const aot::Version& from) {
  return {from.major, from.minor, from.patch};
}

schema::ArgumentKind kind(aot::ArgumentKind from) {
  switch (from) {
    case aot::ArgumentKind::buffer:
      return schema::ArgumentKind::buffer;
    case aot::ArgumentKind::threadgroup:
      return schema::ArgumentKind::threadgroup;
    case aot::ArgumentKind::texture:
      return schema::ArgumentKind::texture;
    case aot::ArgumentKind::sampler:
      return schema::ArgumentKind::sampler;
    case aot::ArgumentKind::indirect_buffer:
      return schema::ArgumentKind::indirect_buffer;
    case aot::ArgumentKind::function_table:
      return schema::ArgumentKind::function_table;
    case aot::ArgumentKind::acceleration_structure:
      return schema::ArgumentKind::acceleration_structure;
    case aot::ArgumentKind::builtin:
    case aot::ArgumentKind::other:
      return schema::ArgumentKind::other;
  }
  return schema::ArgumentKind::other;
}

schema::Access access(aot::ArgumentAccess from) {
  switch (from) {
    case aot::ArgumentAccess::none:
      return schema::Access::none;
    case aot::ArgumentAccess::read:
      return schema::Access::read;
    case aot::ArgumentAccess::write:
      return schema::Access::write;
    case aot::ArgumentAccess::read_write:
      return schema::Access::read_write;
    case aot::ArgumentAccess::sample:
      return schema::Access::sample;
  }
  return schema::Access::none;
}

schema::FunctionKind function_kind(std::string_view stage) {
  if (stage == "vertex") return schema::FunctionKind::vertex;
  if (stage == "fragment") return schema::FunctionKind::fragment;
  if (stage == "visible") return schema::FunctionKind::visible;
  if (stage == "intersection") return schema::FunctionKind::intersection;
  if (stage == "mesh") return schema::FunctionKind::mesh;
  if (stage == "object") return schema::FunctionKind::object;
  return stage == "kernel" ? schema::FunctionKind::kernel : schema::FunctionKind::unqualified;
}

schema::Function function(const aot::KernelInfo& info) {
  schema::Function made;
  made.name = info.name;
  made.kind = function_kind(info.stage);
  made.max_threads = info.max_threads;
  made.threadgroup_bytes = static_cast<uint32_t>(info.threadgroup_bytes);
  for (const aot::ArgumentInfo& from : info.arguments) {
    if (from.kind == aot::ArgumentKind::builtin) continue;  // nothing is bound
    schema::Argument argument;
    argument.name = from.name;
    argument.type_name = from.type_name;
    argument.index = from.index;
    argument.location = from.location;
    argument.kind = kind(from.kind);
    argument.access = access(from.access);
    argument.address_space = from.address_space;
    argument.unused = from.unused;
    argument.conditional = from.conditional;
    argument.array_size = from.count;
    argument.size = from.size;
    argument.align = from.align;
    made.arguments.push_back(std::move(argument));
  }
  for (const aot::ConstantInfo& from : info.constants)
    made.constants.push_back({from.name, from.type_name, from.index, from.required});
  return made;
}

schema::Platform platform(aot::Platform from) {
  return from == aot::Platform::ios ? schema::Platform::ios : schema::Platform::macos;
}

schema::Slice metallib_slice(aot::CompiledTarget& compiled) {
  schema::Slice slice;
  slice.target = compiled.target.name;
  slice.kind = schema::SliceKind::metallib;
  slice.platform = platform(compiled.target.platform);
  slice.os = version(compiled.target.os);
  slice.air = version(compiled.target.air);
  for (const aot::CompiledFunction& from : compiled.functions) {
    schema::Presence presence;
    presence.metal = version(from.info.language);
    presence.air = version(from.info.air);
    // The lowest that any function needs: the loader checks each function on its own.
    if (slice.functions.empty() || presence.metal < slice.metal) slice.metal = presence.metal;
    slice.functions.push_back(std::move(presence));
  }
  slice.bytes = std::move(compiled.metallib);
  return slice;
}

Result<schema::Slice> cpu_slice(const aot::CompiledTarget& from, aot::CpuLevel level, bool checked, unsigned threads) {
  std::vector<aot::AirModuleView> modules;
  for (const aot::CompiledFunction& made : from.functions) modules.push_back({made.info.name, made.bitcode});
  aot::CpuOptions options;
  options.level = level;
  options.checked = checked;
  options.threads = threads;
  SMELT_TRY(auto compiled, aot::compile_cpu(modules, options));
  schema::Slice slice;
  slice.target = fmt::format("cpu-{}{}", aot::to_string(level), checked ? "-checked" : "");
  slice.kind = schema::SliceKind::cpu;
  slice.arch = level == aot::CpuLevel::aarch64 ? 2 : 1;
  slice.level = level == aot::CpuLevel::x86_64_v3 ? 3 : level == aot::CpuLevel::x86_64_v4 ? 4 : 0;
  slice.checked = checked;
  slice.air = version(from.target.air);
  for (const aot::CompiledFunction& made : from.functions) {
    schema::Presence presence;
    presence.metal = version(made.info.language);
    presence.air = version(made.info.air);
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

}  // namespace

Result<Bytes> build_package(const Request& request, unsigned threads, const Progress& progress,
                            std::vector<std::string>* warnings) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  aot::CompileOptions options = request.options;
  options.threads = threads;
  if (options.cache_folder.empty()) options.cache_folder = precompiled_folder().string();
  if (progress) options.progress = [&](size_t done, size_t total) { progress("kernels", done, total); };
  SMELT_TRY(auto compiled, aot::compile(request.sources, options));
  if (warnings) *warnings = compiled.warnings;

  schema::Library library;
  Hasher source;
  for (const aot::Source& input : request.sources) source.field(input.bytes);
  library.source = source.finish();
  library.version = request.version;
  library.compiler = aot::compiler_identity();
  // CPU code comes from what a Mac of the newest target would be given.
  const auto newest = std::max_element(
      compiled.targets.begin(), compiled.targets.end(),
      [](const aot::CompiledTarget& a, const aot::CompiledTarget& b) { return a.target.air < b.target.air; });
  if (newest == compiled.targets.end() || newest->functions.empty())
    return fail(Errc::empty_library, "no kernels in {}",
                request.sources.empty() ? "no input" : request.sources[0].name);
  for (const aot::CompiledFunction& made : newest->functions) library.functions.push_back(function(made.info));
  library.name = request.name.empty() ? newest->functions.front().info.name : request.name;
  if (request.cpu) {
    std::vector<aot::CpuLevel> levels = request.levels;
    if (levels.empty()) {
      SMELT_TRY(const auto host, aot::host_cpu_level());
      levels.push_back(host);
    }
    size_t done = 0;
    for (const aot::CpuLevel level : levels) {
      if (progress) progress("cpu code", done, levels.size());
      SMELT_TRY(auto slice, cpu_slice(*newest, level, request.checked, threads));
      library.slices.push_back(std::move(slice));
      ++done;
    }
    if (progress) progress("cpu code", done, levels.size());
  }
  std::vector<schema::Slice> metallibs;
  for (aot::CompiledTarget& target : compiled.targets) metallibs.push_back(metallib_slice(target));
  library.slices.insert(library.slices.begin(), std::make_move_iterator(metallibs.begin()),
                        std::make_move_iterator(metallibs.end()));
  return schema::write_package(std::span(&library, 1));
}

}  // namespace smelt::service
