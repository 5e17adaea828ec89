// smelt compile INPUT... -o OUT: IR, Metal source or a Metal library to what OUT's ending asks for. Goes through the
// store, so the second run of the same command is a hit (-v says so).
#include "smelt/aot/compile.hpp"

#include "smelt/aot/fingerprint.hpp"
#include "smelt/base/files.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/service/log.hpp"
#include "smelt/service/session.hpp"

#include "progress.hpp"
#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>

namespace smelt::cli {
namespace {

struct Options {
  std::vector<std::string> inputs;
  std::string output;
  std::vector<std::string> targets;
  std::vector<std::string> kernels;
  std::vector<std::string> levels;
  std::vector<std::string> include_folders, definitions, functions;
  std::string depfile;
  std::string language;
  std::string metadata;
  std::string emit, stop_after;
  std::string version, name, tag;
  std::optional<uint64_t> threadgroup_memory;
  std::optional<uint32_t> threads_per_threadgroup;
  unsigned jobs = 0;
  bool no_cpu = false, checked = false, no_store = false, fast_math = false, debug_lines = false, pack_scalars = false;
  bool no_overlap = false, relaxed_atomics = false, verbose = false;
};

/// "metal3.1" or "3.1".
Result<aot::Version> parse_language(std::string_view text) {
  std::string_view digits = text;
  if (digits.substr(0, 5) == "metal") digits.remove_prefix(5);
  aot::Version version;
  const char* const end = digits.data() + digits.size();
  const auto major = std::from_chars(digits.data(), end, version.major);
  if (major.ec == std::errc() && major.ptr != end && *major.ptr == '.') {
    const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
    if (minor.ec == std::errc() && minor.ptr == end) return version;
  }
  return fail(Errc::invalid_argument, "--std '{}': want metal2.4 ... metal4.0", text);
}

/// What to write, by --emit or by the ending.
Result<std::string> output_kind(const Options& options) {
  if (!options.emit.empty()) {
    if (options.emit == "air") return std::string("bc");
    if (options.emit == "ll" || options.emit == "metallib") return options.emit;
    return fail(Errc::invalid_argument, "--emit '{}': want metallib, air or ll", options.emit);
  }
  const std::string ending = std::filesystem::path(options.output).extension().string();
  for (const char* known : {"metallib", "smelt", "bc", "ll"})
    if (ending == std::string(".") + known) return std::string(known);
  return fail(Errc::invalid_argument, "-o {}: want an ending of .metallib, .smelt, .bc or .ll, or --emit",
              options.output);
}

Result<service::Request> request_from(const Options& options, std::vector<Bytes>& inputs) {
  service::Request request;
  inputs.reserve(options.inputs.size());
  for (const std::string& name : options.inputs) {
    SMELT_TRY(Bytes bytes, read_file(name));
    inputs.push_back(std::move(bytes));
    request.sources.push_back({name == "-" ? "stdin" : name, inputs.back()});
  }
  aot::CompileOptions& with = request.options;
  std::vector<std::string> targets = options.targets;
  if (const char* target = std::getenv("SMELT_TARGET"); targets.empty() && target && *target) targets.push_back(target);
  for (const std::string& name : targets) {
    SMELT_TRY(const aot::Target target, aot::parse_target(name));
    with.targets.push_back(target);
  }
  with.kernels = options.kernels;
  with.stop_after = options.stop_after;
  with.include_folders = options.include_folders;
  with.definitions = options.definitions;
  with.functions = options.functions;
  with.cache_folder = service::precompiled_folder().string();
  with.threadgroup_memory = options.threadgroup_memory;
  with.threads_per_threadgroup = options.threads_per_threadgroup;
  with.fast_math = options.fast_math;
  with.debug_lines = options.debug_lines;
  with.pack_scalars = options.pack_scalars;
  with.buffers_do_not_overlap = options.no_overlap;
  with.relaxed_atomics = options.relaxed_atomics;
  if (!options.language.empty()) {
    SMELT_TRY(with.language, parse_language(options.language));
  }
  if (!options.metadata.empty()) {
    SMELT_TRY(const Bytes json, read_file(options.metadata));
    with.metadata_json = as_text(json);
  }
  request.cpu = !options.no_cpu;
  request.checked = options.checked;
  for (const std::string& name : options.levels) {
    SMELT_TRY(const aot::CpuLevel level, aot::parse_cpu_level(name));
    request.levels.push_back(level);
  }
  request.name = options.name;
  request.version = options.version;
  return request;
}

/// A rule for make and ninja: OUT depends on the inputs and on what they include.
Result<void> write_depfile(const Options& options, const service::Request& request) {
  const auto escaped = [](const std::string& path) {
    std::string text;
    for (const char c : path) {
      if (c == ' ' || c == '#') text += '\\';
      if (c == '$') text += '$';
      text += c;
    }
    return text;
  };
  std::string rule = escaped(options.output) + ":";
  for (const aot::Source& source : request.sources) {
    if (source.name != "stdin") rule += " " + escaped(source.name);
    for (const std::string& file : aot::source_dependencies(source, request.options)) rule += " " + escaped(file);
  }
  rule += "\n";
  return write_file(options.depfile, as_bytes(rule));
}

Result<void> write_text(const Options& options, const service::Request& request) {
  SMELT_TRY(const std::string text, aot::emit_ll(request.sources, request.options));
  return write_file(options.output, as_bytes(text));
}

Result<void> write_bitcode(const Options& options, service::Request& request) {
  request.options.threads = options.jobs;
  SMELT_TRY(const auto compiled, aot::compile(request.sources, request.options));
  if (compiled.targets.size() != 1 || compiled.targets[0].functions.size() != 1)
    return fail(Errc::invalid_argument,
                "-o {}: one bitcode file holds one kernel for one target; this makes {} kernels for "
                "{} targets. Write a .metallib or .smelt, or name the kernel",
                options.output, compiled.targets.empty() ? 0 : compiled.targets[0].functions.size(),
                compiled.targets.size());
  return write_file(options.output, compiled.targets[0].functions[0].bitcode);
}

Result<void> write_library(const Options& options, const service::Made& made) {
  SMELT_TRY(const schema::Package package, schema::Package::open(made.package));
  const schema::LibraryView library = package.library(0);
  for (uint32_t i = 0; i < library.slices.count; ++i) {
    const schema::SliceView slice = package.slice(library.slices.first + i);
    if (slice.kind != schema::SliceKind::metallib) continue;
    SMELT_TRY_VOID(schema::check_part(slice.part, options.output));
    return write_file(options.output, slice.part.bytes);
  }
  return fail(Errc::compile_failed, "no Metal library came out of {}", options.inputs.front());
}

/// A .metallib or .smelt: through the store.
Result<void> write_kept(const Options& options, const service::Request& request, bool is_package) {
  service::SessionOptions with;
  with.use_store = !options.no_store;
  with.threads = options.jobs;
  const auto session = service::Session::open(with);
  ProgressBar bar;
  SMELT_TRY(const service::Made made, session->make(request, bar.callback()));
  bar.done();
  for (const std::string& warning : made.warnings) Context::warn(warning);
  if (!options.tag.empty()) {
    const size_t at = options.tag.find('@');
    if (at == std::string::npos) return fail(Errc::invalid_argument, "--tag '{}': want NAME@VERSION", options.tag);
    SMELT_TRY_VOID(session->tag(std::string_view(options.tag).substr(0, at),
                                std::string_view(options.tag).substr(at + 1), made.key, true));
  }
  return is_package ? write_file(options.output, made.package) : write_library(options, made);
}

Result<void> write_output(const Options& options, const std::string& kind, service::Request& request) {
  if (kind == "ll") return write_text(options, request);
  if (kind == "bc") return write_bitcode(options, request);
  if (kind == "metallib") {
    if (request.options.targets.size() > 1)
      return fail(Errc::invalid_argument, "-o {}: a Metal library is for one target, {} are named; write a .smelt",
                  options.output, request.options.targets.size());
    request.cpu = false;
  }
  return write_kept(options, request, kind == "smelt");
}

Result<void> run(const Options& options) {
  if (options.verbose) service::log_more();
  SMELT_TRY(const std::string kind, output_kind(options));
  std::vector<Bytes> inputs;
  SMELT_TRY(service::Request request, request_from(options, inputs));
  if (!options.stop_after.empty() && kind != "ll")
    return fail(Errc::invalid_argument, "--stop-after {}: what a pass leaves can be shown as text only; --emit ll",
                options.stop_after);
  SMELT_TRY_VOID(write_output(options, kind, request));
  // Last: a rule beside an output that is not there would make the build believe it is up to date.
  return options.depfile.empty() ? Result<void>() : write_depfile(options, request);
}

}  // namespace

void add_compile(CLI::App& app, Context& context) {
  CLI::App* verb =
      app.add_subcommand("compile", "Metal source, LLVM IR or a Metal library to a .metallib or .smelt package");
  auto options = std::make_shared<Options>();
  verb->add_option("INPUT", options->inputs, ".metal, .ll, .llir, .bc, .metallib; told apart by content")->required();
  verb->add_option("-o,--output", options->output, "OUT.metallib, .smelt, .bc or .ll")->required();
  verb->add_option("--target", options->targets,
                   "macos12 ... macos26, ios15 ... ios26; may be repeated (default macos14)")
      ->allow_extra_args(false);
  verb->add_option("--kernel", options->kernels, "Treat this function as a kernel")->allow_extra_args(false);
  verb->add_option("--cpu", options->levels, "CPU code for x86-64-v3, x86-64-v4 or aarch64 (default: this machine)")
      ->allow_extra_args(false);
  verb->add_flag("--no-cpu", options->no_cpu, "No CPU code");
  verb->add_flag("--checked", options->checked, "CPU code that bounds every access");
  verb->add_option("--std", options->language, "Metal language version, metal2.4 ... metal4.0");
  verb->add_option("-I,--include", options->include_folders, "Folder to look for included files in")
      ->allow_extra_args(false);
  verb->add_option("-D,--define", options->definitions, "NAME or NAME=VALUE")->allow_extra_args(false);
  verb->add_option("--function", options->functions, "Only this kernel; may be repeated")->allow_extra_args(false);
  verb->add_option("--depfile,--MF", options->depfile,
                   "Write a rule of what the output depends on, for make and ninja");
  verb->add_flag("--fast-math", options->fast_math, "Relaxed floating point");
  verb->add_flag("-g,--debug-lines", options->debug_lines, "Keep line tables");
  verb->add_flag("--pack-scalars", options->pack_scalars, "All scalar arguments in one buffer");
  verb->add_flag("--no-overlap", options->no_overlap, "Promise that no two buffers of a launch overlap");
  verb->add_flag("--relaxed-atomics", options->relaxed_atomics, "Where the target has no stronger order");
  verb->add_option("--metadata", options->metadata, "Triton's JSON beside the kernel");
  verb->add_option("--threadgroup-memory", options->threadgroup_memory, "Bytes of the unsized threadgroup array");
  verb->add_option("--threads-per-threadgroup", options->threads_per_threadgroup, "Largest threadgroup");
  verb->add_option("--emit", options->emit, "metallib, air or ll, whatever OUT is called");
  verb->add_option("--stop-after", options->stop_after,
                   "With --emit ll: the module after this pass of the legaliser (a wrong name lists them)");
  verb->add_option("--name", options->name, "Of the library in its package (default: its first kernel's)");
  verb->add_option("--version-string", options->version, "Of the library in its package, e.g. 2.1.0");
  verb->add_option("--tag", options->tag, "NAME@VERSION: point this tag of the store at the result");
  verb->add_flag("--no-store", options->no_store, "Neither look in the store nor publish");
  verb->add_option("-j,--jobs", options->jobs, "Threads (default: all cores)");
  verb->add_flag("-v,--verbose", options->verbose, "Say whether it was a hit");
  verb->callback([options, &context] {
    auto result = run(*options);
    if (!result && result.error().code == Errc::invalid_argument) return context.asked_wrongly(result.error().message);
    context.finish(result);
  });
}

}  // namespace smelt::cli
