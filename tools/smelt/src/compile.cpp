// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt compile INPUT... -o OUT: IR, Metal source or a Metal library to what OUT's ending asks for. Goes through the
// store, so the second run of the same command is a hit (-v says so). Only text (.ll) does not.
#include "smelt/aot/compile.hpp"

#include "smelt/aot/fingerprint.hpp"
#include "smelt/aot/limits.hpp"
#include "smelt/aot/ready.hpp"
#include "smelt/base/files.hpp"
#include "smelt/base/make_rule.hpp"
#include "smelt/base/seconds.hpp"
#include "smelt/base/text.hpp"
#include "smelt/loader/library.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/service/log.hpp"
#include "smelt/service/reading_child.hpp"
#include "smelt/service/session.hpp"

#include "checked_option.hpp"
#include "compile_list.hpp"
#include "progress.hpp"
#include "reading.hpp"
#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <memory>

namespace smelt::cli {
namespace {

/// The command line: the request itself, and what is done with its result.
struct CompileCommandOptions {
  service::Request request;
  std::vector<std::string> inputs;
  std::string output, emit, depfile, tag, list;
  std::vector<std::string> levels, flags;  // of -O and -f, without these
  bool fast_math = false;
  service::SessionOptions session;
  double timeout = 0;
  uint64_t max_memory = 0;
  bool no_store = false, verbose = false, require_cpu = false, move = false;
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
  return fail(Errc::invalid_argument, "--std '{}': want metal1.0 ... metal4.1", text);
}

/// What to write, by --emit or by the ending.
Result<std::string> output_kind(const CompileCommandOptions& options) {
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

/// Reads the inputs; the request borrows what is read.
Result<void> read_inputs(CompileCommandOptions& options, std::vector<Bytes>& inputs) {
  inputs.reserve(options.inputs.size());
  for (const std::string& name : options.inputs) {
    SMELT_TRY(Bytes bytes, read_file(name));
    inputs.push_back(std::move(bytes));
    options.request.sources.push_back({name == "-" ? "stdin" : name, inputs.back()});
  }
  return {};
}

/// A rule for make and ninja: OUT depends on the inputs and on what they include.
Result<void> write_depfile(const CompileCommandOptions& options) {
  SMELT_TRY(std::string rule, path_for_make(options.output));
  rule += ":";
  for (const aot::Source& source : options.request.sources) {
    auto files = aot::source_dependencies(source, options.request.options);
    if (source.name != "stdin") files.insert(files.begin(), source.name);
    for (const std::string& file : files) {
      SMELT_TRY(const std::string quoted, path_for_make(file));
      rule += " " + quoted;
    }
  }
  rule += "\n";
  return write_file(options.depfile, as_bytes(rule));
}

Result<void> write_bitcode(const CompileCommandOptions& options, const service::CompileResult& result) {
  SMELT_TRY(const ByteView image, service::metallib_of(result.package, options.inputs.front()));
  SMELT_TRY(const metallib::Library library, metallib::read(image));
  if (library.functions.size() != 1)
    return fail(Errc::invalid_argument,
                "-o {}: one bitcode file holds one kernel; this makes {}. Write a .metallib or .smelt, or name the "
                "kernel (--function)",
                options.output, library.functions.size());
  return write_file(options.output, library.module_of(library.functions[0]).bitcode());
}

Result<void> set_tag(const CompileCommandOptions& options, service::Session& session, const Digest& key) {
  const size_t at = options.tag.find('@');
  if (at == std::string::npos) return fail(Errc::invalid_argument, "--tag '{}': want NAME@VERSION", options.tag);
  const std::string_view tag = options.tag;
  return session.tag(tag.substr(0, at), tag.substr(at + 1), key, options.move);
}

/// A kernel without CPU code is worth a word: it will not run where there is no Mac.
Result<void> tell_missing(const CompileCommandOptions& options, const service::CompileResult& result) {
  if (!options.request.cpu) return {};
  SMELT_TRY(const auto package, loader::Package::open({result.package, result.owner}));
  const std::vector<loader::MissingKernel> missing = package->missing_cpu_code();
  if (options.require_cpu && !missing.empty())
    return fail(Errc::unsupported, "--require-cpu: {}{}", missing.front().text(),
                missing.size() == 1 ? "" : fmt::format(" (and {} more)", missing.size() - 1));
  for (const loader::MissingKernel& one : missing) Context::warn(one.text());
  return {};
}

/// Metal source includes files: it is read here, and under a limit in a child that may open them.
Result<Bytes> emitted_text(const CompileCommandOptions& options) {
  const service::Request& request = options.request;
  const auto emit = [&]() -> Result<Bytes> {
    SMELT_TRY(const std::string text, aot::emit_ll(request.sources, request.options));
    return to_bytes(as_bytes(text));
  };
  SMELT_TRY(const service::Sandbox mode, sandbox_or_default(request.sandbox));
  const bool here = std::any_of(request.sources.begin(), request.sources.end(),
                                [](const aot::Source& source) { return aot::is_metal_source(source.bytes); });
  const bool limited = options.timeout != 0 || options.max_memory != 0;
  if (here && limited && mode != service::Sandbox::never) {
    SMELT_TRY(const auto time, limit_from_seconds(options.timeout, "--timeout"));
    aot::be_ready();
    return service::read_in_child_if_there_is_one({.time = time, .memory_bytes = options.max_memory, .files = true},
                                                  emit, Context::warn);
  }
  if (here || mode == service::Sandbox::never) return emit();
  return read_apart({.sandbox = mode, .timeout = options.timeout, .max_memory = options.max_memory}, emit);
}

/// Everything but text goes through the store.
Result<void> write_output(CompileCommandOptions& options, const std::string& kind) {
  service::Request& request = options.request;
  aot::Limits limits;
  SMELT_TRY(limits.time, limit_from_seconds(options.timeout, "--timeout"));
  limits.memory_bytes = options.max_memory;
  const aot::Limited limited(limits);
  if (kind == "ll") {
    SMELT_TRY(const Bytes text, emitted_text(options));
    return write_file(options.output, text);
  }
  if (request.options.cpu_only && (kind != "smelt" || !request.cpu))
    return fail(Errc::invalid_argument, "--cpu-only: {}",
                kind == "smelt" ? "--no-cpu is given too" : "only a .smelt package has CPU code");
  if (kind != "smelt") {
    if (request.options.targets.size() > 1)
      return fail(Errc::invalid_argument, "-o {}: a .{} is for one target, {} are named; write a .smelt",
                  options.output, kind, request.options.targets.size());
    request.cpu = false;
  }
  if (options.require_cpu && !request.cpu)
    return fail(Errc::invalid_argument, "--require-cpu: {}",
                kind == "smelt" ? "--no-cpu is given too" : "only a .smelt package has CPU code");
  options.session.use_store = !options.no_store;
  const auto session = service::Session::open(options.session);
  ProgressBar bar;
  SMELT_TRY(const service::CompileResult result, session->make(request, bar.callback()));
  bar.done();
  for (const std::string& warning : result.warnings) Context::warn(warning);
  SMELT_TRY_VOID(tell_missing(options, result));
  if (!options.tag.empty()) SMELT_TRY_VOID(set_tag(options, *session, result.key));
  if (kind == "smelt") return write_file(options.output, result.package);
  if (kind == "bc") return write_bitcode(options, result);
  SMELT_TRY(const ByteView library, service::metallib_of(result.package, options.inputs.front()));
  return write_file(options.output, library);
}

/// The flags that Metal's own driver has too.
Result<aot::MathOptions> read_flags(CompileCommandOptions& options) {
  aot::DriverFlags flags(aot::MathMode::safe);
  if (options.fast_math) SMELT_TRY_VOID(flags.take("-ffast-math"));
  for (const std::string& level : options.levels) SMELT_TRY_VOID(flags.take("-O" + level));
  for (const std::string& flag : options.flags) {
    if (flag == "metal-enable-logging") {
      options.request.options.definitions.emplace_back(aot::kLoggingMacro);
      continue;
    }
    SMELT_TRY(const bool known, flags.take("-f" + flag));
    if (!known)
      return fail(Errc::invalid_argument,
                  "-f{}: not known; want -ffast-math, -fno-fast-math, -fmetal-math-mode=, -fmetal-math-fp32-functions= "
                  "or -fmetal-enable-logging",
                  flag);
  }
  return flags.math();
}

Result<void> run_compile(CompileCommandOptions& options) {
  if (options.verbose) service::log_more();
  SMELT_TRY(options.request.options.math, read_flags(options));
  SMELT_TRY(const std::string kind, output_kind(options));
  const std::string& stop_after = options.request.options.stop_after;
  if (!stop_after.empty() && kind != "ll")
    return fail(Errc::invalid_argument,
                "--stop-after {}: the result of a pass can only be printed as text; pass --emit ll", stop_after);
  std::vector<Bytes> inputs;
  SMELT_TRY_VOID(read_inputs(options, inputs));
  options.request.options.cache_folder = service::precompiled_folder().string();
  SMELT_TRY_VOID(write_output(options, kind));
  // Last: a rule beside an output that is not there would make the build believe it is up to date.
  return options.depfile.empty() ? Result<void>() : write_depfile(options);
}

/// An option whose words are parsed as they are read.
template <class T>
CLI::Option* add_parsed(CLI::App& verb, const char* name, Result<T> (*parse)(std::string_view),
                        const std::function<void(T)>& take, const std::string& help) {
  const auto read = [parse, take](const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      auto value = parse(word);
      if (!value) throw CLI::ValidationError(value.error().message, CLI::ExitCodes::ValidationError);
      take(std::move(*value));
    }
  };
  return verb.add_option_function<std::vector<std::string>>(name, read, help)->allow_extra_args(false);
}

Result<std::string> read_text(std::string_view file) {
  SMELT_TRY(const Bytes bytes, read_file(file));
  return std::string(as_text(bytes));
}

// Headings of the help. The first, which CLI11 gives by itself, holds the common ones.
constexpr const char* kCommonGroup = "";
constexpr const char* kSourceGroup = "Source";
constexpr const char* kCpuGroup = "CPU code";
constexpr const char* kOutputGroup = "Output";
constexpr const char* kStoreGroup = "Store";
constexpr const char* kLimitsGroup = "Limits";

/// A row of options.def.
void add_plain(CLI::App& verb, std::string_view words, std::string_view group, auto& member, const char* help) {
  CLI::Option* option = nullptr;
  if constexpr (std::is_same_v<decltype(member), bool&>)
    option = verb.add_flag(std::string(words), member, help);
  else if constexpr (std::is_same_v<decltype(member), std::vector<std::string>&>)
    option =
        verb.add_option(std::string(words), member, std::string(help) + "; may be repeated")->allow_extra_args(false);
  else
    option = verb.add_option(std::string(words), member, help)->check(CLI::NonNegativeNumber);
  if (!group.empty()) option->group(std::string(group));
}

/// What shapes the result: bound straight to the request.
void add_request_options(CLI::App& verb, service::Request& request) {
  aot::CompileOptions& with = request.options;
  add_parsed<aot::Target>(
      verb, "--target", aot::parse_target, [&with](aot::Target target) { with.targets.push_back(std::move(target)); },
      "macos12 ... macos27, ios15 ... ios27, tvos15 ... tvos27; may be repeated (default: macos14)")
      ->envname("SMELT_TARGET");
  add_parsed<aot::CpuLevel>(
      verb, "--cpu", aot::parse_cpu_level, [&request](aot::CpuLevel level) { request.levels.push_back(level); },
      "CPU code to add: " + cpu_level_names(" or ") + "; may be repeated (default: this machine's)");
  add_parsed<aot::CpuEffort>(
      verb, "--cpu-effort", aot::parse_cpu_effort, [&request](aot::CpuEffort effort) { request.effort = effort; },
      "Time to spend on CPU code: fast, balanced (default) or best")
      ->envname("SMELT_CPU_EFFORT")
      ->group(kCpuGroup);
  add_parsed<aot::Version>(
      verb, "--std", parse_language, [&with](aot::Version version) { with.language = version; },
      "Language version of Metal source: metal1.0 ... metal4.1 (default: the target's)")
      ->group(kSourceGroup);
  add_parsed<std::string>(
      verb, "--metadata", read_text, [&with](std::string json) { with.metadata_json = std::move(json); },
      "JSON file that Triton wrote beside the kernel")
      ->group(kSourceGroup);
#define SMELT_FLAG(member, name, words, group, help) add_plain(verb, words, group, with.member, help);
#define SMELT_NUMBER(member, type, name, words, group, help) add_plain(verb, words, group, with.member, help);
#define SMELT_TEXTS(member, one, name, words, group, help) add_plain(verb, words, group, with.member, help);
#define SMELT_INNER_TEXTS(member)
#include "smelt/aot/options.def"
  verb.add_option("--stop-after", with.stop_after,
                  "With --emit ll: stop after this pass (an unknown name lists all passes)")
      ->group(kOutputGroup);
  verb.add_flag_callback("--no-cpu", [&request] { request.cpu = false; }, "Add no CPU code")->group(kCpuGroup);
  add_checked(verb, request.checked,
              "CPU code with checks instead of plain code: all, or =memory,races,init,sync (see docs/guide/races.md)");
  verb.add_option("--name", request.name, "Name of the library in its package (default: its first kernel's)")
      ->group(kOutputGroup);
  verb.add_option("--version-string", request.version, "Version of the library in its package, e.g. 2.1.0")
      ->group(kOutputGroup);
}

}  // namespace

void add_compile(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand(
      "compile", "Compile Metal source, LLVM IR or a Metal library to a .metallib or a .smelt package");
  auto options = std::make_shared<CompileCommandOptions>();
  verb->add_option("INPUT", options->inputs, ".metal, .ll, .llir, .bc or .metallib files; the content tells the kind");
  verb->add_option("-o,--output", options->output, "File to write: OUT.metallib, .smelt, .bc or .ll");
  add_request_options(*verb, options->request);
  verb->add_flag("--fast-math", options->fast_math, "Fast math mode and fast functions");
  verb->add_option("-f", options->flags,
                   "-fmetal-math-mode=safe|relaxed|fast, -fmetal-math-fp32-functions=precise|fast, -f[no-]fast-math, "
                   "-fmetal-enable-logging (keeps os_log)")
      ->allow_extra_args(false)
      ->group(kSourceGroup);
  verb->add_option("-O", options->levels, "-O0 to -O3, -Os, -Oz, -Og: all the same; -Ofast implies -ffast-math")
      ->allow_extra_args(false)
      ->group(kSourceGroup);
  verb->add_option("--emit", options->emit, "Kind of output, whatever the name of OUT: metallib, air or ll")
      ->group(kOutputGroup);
  verb->add_option("--depfile,--MF", options->depfile, "Write the dependencies of the output, for make and ninja")
      ->group(kOutputGroup);
  CLI::Option* const tag = verb->add_option("--tag", options->tag, "Tag the result in the store as NAME@VERSION");
  verb->add_flag("--move", options->move, "Move the tag if it exists already")->needs(tag)->group(kStoreGroup);
  verb->add_flag("--require-cpu", options->require_cpu, "Fail, instead of a warning, when a kernel gets no CPU code")
      ->group(kCpuGroup);
  verb->add_flag("--no-store", options->no_store, "Neither read nor write the store")->group(kStoreGroup);
  verb->add_option("-j,--jobs", options->session.threads, "Threads to compile with (default: one per core)")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--timeout", options->timeout, "Seconds that compiling may take, e.g. 2.5")
      ->check(CLI::PositiveNumber)
      ->group(kLimitsGroup);
  take_size(verb->add_option("--max-memory", options->max_memory,
                             "Bytes that the process, and each child process, may use, e.g. 4GiB"))
      ->group(kLimitsGroup);
  add_parsed<service::Sandbox>(
      *verb, "--sandbox", service::parse_sandbox, [options](service::Sandbox mode) { options->request.sandbox = mode; },
      "Compile in child processes: auto (Metal libraries, remade packages), always (LLVM IR too) or never (default: "
      "$SMELT_SANDBOX, else auto)")
      ->group(kLimitsGroup);
  verb->add_flag("-v,--verbose", options->verbose, "Print whether the result was in the store");
  verb->add_option("--from", options->list,
                   "Compile the kernels in a list of misses (python -m smelt misses) instead of INPUT and OUT")
      ->group(kStoreGroup);
  show_example(*verb, "smelt compile saxpy.metal --target macos14 --target ios17 -o saxpy.smelt");
  verb->callback([options, verb, &context] {
    if (!options->list.empty() && options->inputs.empty() && options->output.empty())
      return context.finish(compile_list(options->list, options->session));
    for (const char* needed : {"INPUT", "--output"})
      if (verb->get_option(needed)->count() == 0) throw CLI::RequiredError(needed);
    if (!options->list.empty()) throw CLI::ExcludesError("--from", "INPUT and --output");
    context.finish(run_compile(*options));
  });
}

}  // namespace smelt::cli
