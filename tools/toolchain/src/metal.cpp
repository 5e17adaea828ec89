// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metal: compiles each source to an object, and links them unless told to stop.
#include "smelt/aot/fingerprint.hpp"
#include "smelt/aot/simulators.hpp"
#include "smelt/base/files.hpp"
#include "smelt/base/make_rule.hpp"
#include "smelt/base/text.hpp"

#include "depfile.hpp"
#include "record.hpp"
#include "tools.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>

namespace smelt::toolchain {
namespace {

enum class Record : uint8_t { no, yes, flat };
enum class Stop : uint8_t { link, object, text, syntax, preprocess, rule };

struct Input {
  std::string path;
  std::string language;  ///< of -x: "metal", "ir" or empty
};

struct Job {
  Stop stop = Stop::link;
  std::vector<Input> inputs;
  std::string output;
  aot::CompileOptions options;
  aot::PreprocessOptions preprocess;
  bool shows_headers = false;
  Wanted wanted;
  bool dry_run = false, verbose = false;
  Record record = Record::no;
  std::string command;  // that it was called by
  // Rules.
  std::string diagnostics_file;  // empty: none is written
  bool writes_rule = false, lists_system = false;
  std::string rule_file;
  Rule rule;
};

/// -D and -U in their order: the last word about a name counts.
void define(aot::CompileOptions& options, const std::string& value, bool defines) {
  const std::string name = value.substr(0, value.find('='));
  const auto is_name = [&](const std::string& one) { return one.substr(0, one.find('=')) == name; };
  std::erase_if(options.definitions, is_name);
  std::erase_if(options.undefinitions, is_name);
  (defines ? options.definitions : options.undefinitions).push_back(value);
}

Result<Record> parse_record(const Argument& argument) {
  if (argument.word == "-fno-record-sources" || argument.value == "=no") return Record::no;
  if (argument.value.empty() || argument.value == "=yes") return Record::yes;
  if (argument.value == "=flat") return Record::flat;
  return fail(Errc::invalid_argument, "invalid value in '{}'; use yes, flat or no", argument.word);
}

/// What Clang says of the system: the oldest version that the code is for, as a number (14.0 is 140000).
void define_system(const aot::Target& target, aot::CompileOptions& options) {
  const char* const word = target.platform == Platform::ios    ? "IPHONE_OS"
                           : target.platform == Platform::tvos ? "TV_OS"
                                                               : "MAC_OS_X";
  const unsigned number = target.os.major * 10000u + target.os.minor * 100u + target.os.patch;
  std::vector<std::string> system = {fmt::format("__ENVIRONMENT_{}_VERSION_MIN_REQUIRED__={}", word, number),
                                     fmt::format("__ENVIRONMENT_OS_VERSION_MIN_REQUIRED__={}", number)};
  if (aot::is_simulator(target)) system.emplace_back("__SMELT_SIMULATOR__=1");  // for TargetConditionals.h
  // -D and -U have the last word.
  const auto says_name = [](const std::string& one, const std::string& other) {
    return one.substr(0, one.find('=')) == other.substr(0, other.find('='));
  };
  for (const auto* said : {&options.definitions, &options.undefinitions})
    std::erase_if(system, [&](const std::string& one) {
      return std::any_of(said->begin(), said->end(), [&](const std::string& other) { return says_name(one, other); });
    });
  options.definitions.insert(options.definitions.begin(), system.begin(), system.end());
}

/// -O4 and more, which Clang takes with a warning.
void warn_of_level(std::string_view word, Messages& messages) {
  unsigned level = 0;
  const auto read = std::from_chars(word.data() + 2, word.data() + word.size(), level);
  if (!word.starts_with("-O") || word.size() == 2 || read.ptr != word.data() + word.size()) return;
  if (level == 4)
    messages.warning("-O4 is equivalent to -O3 [-Wdeprecated]");
  else if (level > 4 || read.ec != std::errc())
    messages.warning(fmt::format("optimization level '{}' is not supported; using '-O3' instead", word));
}

Result<void> take_error_limit(const Argument& argument, aot::CompileOptions& options) {
  const bool is_number = !argument.value.empty() && argument.value.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number || argument.value.size() > 9)
    return fail(Errc::invalid_argument, "invalid integral value '{}' in '{}'", argument.value, argument.word);
  options.warning_flags.insert(options.warning_flags.end(), {"-ferror-limit", argument.value});
  return {};
}

/// Where to stop; the earliest of several.
void take_stop(Job& job, Stop stop) {
  if (job.stop == Stop::link || stop > job.stop) job.stop = stop;
}

Result<void> take_language(const std::string& value, std::string& language) {
  if (value == "none") {
    language.clear();
  } else if (value == "metal" || value == "metal-header") {
    language = "metal";
  } else if (value == "ir") {
    language = "ir";
  } else {
    return fail(Errc::invalid_argument, "language not recognized: '{}'; use metal, metal-header, ir or none", value);
  }
  return {};
}

/// The options that shape a rule. False: it is none.
Result<bool> take_rule(Job& job, const Argument& argument) {
  switch (argument.use) {
    case Use::depend_all:
    case Use::depend_only_all:
      job.lists_system = true;
      [[fallthrough]];
    case Use::depend_user:
    case Use::depend_only_user:
      job.writes_rule = true;
      if (argument.use == Use::depend_only_all || argument.use == Use::depend_only_user) take_stop(job, Stop::rule);
      return true;
    case Use::depend_file:
      job.rule_file = argument.value;
      return true;
    case Use::depend_target:
      job.rule.targets.push_back(argument.value);
      return true;
    case Use::depend_quoted: {
      SMELT_TRY(job.rule.targets.emplace_back(), path_for_make(argument.value));
      return true;
    }
    case Use::depend_phony:
      job.rule.phony = true;
      return true;
    default:
      return false;
  }
}

/// The options of the preprocessor and of debugging. False: it is none.
bool take_compile_option(Job& job, const Argument& argument) {
  aot::CompileOptions& options = job.options;
  switch (argument.use) {
    case Use::include_folder:
      options.include_folders.push_back(argument.value);
      return true;
    case Use::quote_folder:
      options.quote_folders.push_back(argument.value);
      return true;
    case Use::system_folder:
      options.system_folders.push_back(argument.value);
      return true;
    case Use::define:
    case Use::undefine:
      define(options, argument.value, argument.use == Use::define);
      return true;
    case Use::logging:
      define(options, aot::kLoggingMacro, true);
      return true;
    case Use::include_file:
      options.forced_includes.push_back(argument.value);
      return true;
    case Use::debug:
    case Use::no_debug:
      options.debug_lines = argument.use == Use::debug;
      return true;
    case Use::warning:
      options.warning_flags.push_back(argument.word == "-pedantic" ? "-Wpedantic" : argument.word);
      return true;
    case Use::no_line_markers:
      job.preprocess.line_markers = false;
      return true;
    case Use::comments:
      job.preprocess.comments = true;
      return true;
    case Use::macro_comments:
      job.preprocess.comments = job.preprocess.macro_comments = true;
      return true;
    case Use::macros:
      job.preprocess.macros = true;
      return true;
    case Use::show_headers:
      job.shows_headers = true;
      return true;
    default:
      return false;
  }
}

Result<Job> read_job(const Parsed& parsed, Messages& messages) {
  Job job;
  std::string language;
  aot::DriverFlags flags(aot::MathMode::fast);
  for (const Argument& argument : parsed.arguments) {
    SMELT_TRY(const bool shapes_rule, take_rule(job, argument));
    if (shapes_rule || take_compile_option(job, argument)) continue;
    switch (argument.use) {
      case Use::input:
        job.inputs.push_back({argument.value, language});
        break;
      case Use::output:
        job.output = argument.value;
        break;
      case Use::language:
        SMELT_TRY_VOID(take_language(argument.value, language));
        break;
      case Use::compile_only:
        take_stop(job, Stop::object);
        break;
      case Use::text:
        take_stop(job, Stop::text);
        break;
      case Use::syntax_only:
        take_stop(job, Stop::syntax);
        break;
      case Use::preprocess:
        take_stop(job, Stop::preprocess);
        break;
      case Use::record: {
        SMELT_TRY(job.record, parse_record(argument));
        break;
      }
      case Use::code:
        SMELT_TRY_VOID(flags.take(argument.word));
        warn_of_level(argument.word, messages);
        break;
      case Use::error_limit:
        SMELT_TRY_VOID(take_error_limit(argument, job.options));
        break;
      case Use::diagnostics_file:
        job.diagnostics_file = argument.value;
        break;
      case Use::colour:
      case Use::no_colour:
        messages.set_colour(argument.use == Use::colour);
        break;
      case Use::dry_run:
        job.dry_run = true;
        break;
      case Use::verbose:
        job.verbose = true;
        break;
      default:
        break;
    }
  }
  SMELT_TRY(job.wanted, choose_target(parsed.arguments));
  job.options.math = flags.math();
  job.options.language = job.wanted.language;
  job.options.targets = {job.wanted.target};
  define_system(job.wanted.target, job.options);
  job.options.cache_folder = service::precompiled_folder().string();
  return job;
}

bool is_source(const Input& input, ByteView bytes) {
  if (!input.language.empty()) return true;
  const std::string ending = std::filesystem::path(input.path).extension().string();
  return ending == ".metal" || ending == ".ll" || !aot::is_link_input(bytes);
}

std::string default_output(const Job& job, const Input& input) {
  if (job.stop == Stop::preprocess || job.stop == Stop::rule) return "-";
  if (job.stop == Stop::link) return kDefaultLibrary;
  const std::string stem = input.path == "-" ? "-" : std::filesystem::path(input.path).stem().string();
  return stem == "-" ? "-" : stem + (job.stop == Stop::text ? ".ll" : ".air");
}

/// A file of dependencies, for make and its kin.
struct RuleFile {
  std::string path, text;
};

/// The rule of one source, whose object is `output`.
Result<RuleFile> rule_of(const Job& job, const aot::Source& source, const std::string& output) {
  Rule rule = job.rule;
  const std::string stem = std::filesystem::path(source.name).stem().string();
  const std::string object = job.stop == Stop::rule || output == "-" ? stem + ".air" : output;
  if (rule.targets.empty()) {
    SMELT_TRY(rule.targets.emplace_back(), path_for_make(object));
  }
  if (source.name != "<stdin>") rule.dependencies.push_back(source.name);
  for (const std::string& file : aot::source_dependencies(source, job.options)) {
    const bool is_system = std::any_of(
        job.options.system_folders.begin(), job.options.system_folders.end(), [&](const std::string& folder) {
          return file.starts_with((std::filesystem::path(folder) / "").lexically_normal().string());
        });
    if (job.lists_system || !is_system) rule.dependencies.push_back(file);
  }
  std::string path = job.rule_file;
  if (path.empty() && job.stop == Stop::rule) path = job.output.empty() ? "-" : job.output;
  if (path.empty()) path = std::filesystem::path(object).replace_extension(".d").string();
  SMELT_TRY(std::string text, to_text(rule));
  return RuleFile{path, std::move(text)};
}

Result<void> write_rule(const Job& job, const aot::Source& source, const std::string& output) {
  SMELT_TRY(const RuleFile rule, rule_of(job, source, output));
  return write_file(rule.path, as_bytes(rule.text));
}

/// The object with its source and the files that it includes.
Result<Bytes> record_sources(const Job& job, const aot::Source& source, const std::string& output, Bytes object) {
  CompileRecord record{job.command, output, {{source.name, source.bytes}}};
  std::deque<Bytes> included;
  for (const std::string& file : aot::source_dependencies(source, job.options)) {
    SMELT_TRY(included.emplace_back(), read_file(file));
    record.files.emplace_back(file, included.back());
  }
  SMELT_TRY(const Bytes archive, pack_sources(record));
  return with_sources(std::move(object), archive);
}

/// What there is to link, and what is written when it is linked: a rule beside an output that is not there would make
/// the build believe it is up to date.
struct Linkable {
  LinkInputs objects;
  std::vector<RuleFile> rules;
};

/// Everything but linking, for one source.
Result<void> compile_one(const Job& job, const aot::Source& source, const std::string& output, Linkable& linkable,
                         Messages& messages) {
  if (job.stop == Stop::rule) return write_rule(job, source, output);
  if (job.stop == Stop::preprocess) {
    SMELT_TRY(const aot::Preprocessed made, aot::preprocess(source, job.options, job.preprocess));
    if (job.shows_headers)
      for (const std::string& header : made.headers) messages.note(header);
    SMELT_TRY_VOID(write_file(output, as_bytes(made.text)));
    return job.writes_rule ? write_rule(job, source, output) : Result<void>();
  }
  const aot::Target target = target_of_ir(job.wanted, source.bytes);
  SMELT_TRY(service::BuiltFile object, open_session()->object(source, target, job.options));
  for (const std::string& warning : object.warnings) messages.compiler_warning(warning);
  if (job.record != Record::no && (job.stop == Stop::object || job.stop == Stop::link)) {
    SMELT_TRY(object.bytes, record_sources(job, source, output, std::move(object.bytes)));
  }
  if (job.stop == Stop::text) {
    SMELT_TRY(const std::string text, aot::disassemble(object.bytes, source.name));
    SMELT_TRY_VOID(write_file(output, as_bytes(text)));
  } else if (job.stop == Stop::object) {
    SMELT_TRY_VOID(write_file(output, object.bytes));
  } else if (job.stop == Stop::link) {
    SMELT_TRY_VOID(linkable.objects.add(source.name, std::move(object.bytes)));
  }
  if (!job.writes_rule) return {};
  if (job.stop != Stop::link) return write_rule(job, source, output);
  SMELT_TRY(linkable.rules.emplace_back(), rule_of(job, source, output));
  return {};
}

Result<void> run_job(const Job& job, Messages& messages) {
  if (job.inputs.empty()) return fail(Errc::invalid_argument, "no input files");
  if (job.inputs.size() > 1 && !job.output.empty() && job.stop != Stop::link && job.stop != Stop::syntax)
    return fail(Errc::invalid_argument, "cannot specify -o when generating multiple output files");
  if (job.shows_headers && job.stop != Stop::preprocess) messages.warning("-H has an effect only with -E");
  Linkable linkable;
  bool failed = false;
  for (const Input& input : job.inputs) {
    // What cannot be read or compiled is told, and the rest goes on, as with Clang.
    const auto done = [&]() -> Result<void> {
      auto bytes = read_file(input.path);
      if (!bytes && bytes.error().code == Errc::file_not_found)
        return fail(Errc::file_not_found, "no such file or directory: '{}'", input.path);
      if (!bytes) return tl::unexpected(bytes.error());
      const std::string name = input.path == "-" ? "<stdin>" : input.path;
      if (!is_source(input, *bytes)) {
        if (job.stop != Stop::link) {
          messages.warning(fmt::format("{}: linker input is not used, since nothing is linked", name));
          return {};
        }
        return input.path == "-" ? linkable.objects.add(name, std::move(*bytes))
                                 : linkable.objects.add_file(input.path);
      }
      const std::string output = job.output.empty() ? default_output(job, input) : job.output;
      return compile_one(job, {name, *bytes}, output, linkable, messages);
    }();
    if (done) continue;
    messages.error(done.error());
    failed = true;
  }
  if (failed || job.stop != Stop::link) return {};
  LinkOutput output{.command = job.command, .has_sources = job.record != Record::flat};
  if (!job.output.empty()) output.file = job.output;
  SMELT_TRY_VOID(link_files(linkable.objects, job.wanted, output, messages));
  for (const RuleFile& rule : linkable.rules) SMELT_TRY_VOID(write_file(rule.path, as_bytes(rule.text)));
  return {};
}

/// What --version and their kin print; true: that was all.
bool print_asked_of_compiler(const Call& call, const Parsed& parsed, const Job& job) {
  for (const Argument& argument : parsed.arguments) {
    switch (argument.use) {
      case Use::version:
        fmt::print("{}", version_text(call, job.wanted.target));
        return true;
      case Use::help:
        fmt::print("usage: metal [options] files\n{}", option_help(Tool::metal));
        return true;
      case Use::search_dirs:
        fmt::print("programs: ={}\nlibraries: ={}\n", call.folder, call.folder);
        return true;
      case Use::print_triple:
        fmt::print("{}\n", job.wanted.target.triple);
        return true;
      default:
        break;
    }
  }
  return false;
}

void print_jobs(const Call& call, const Job& job, Messages& messages) {
  messages.note(version_text(call, job.wanted.target));
  for (const Input& input : job.inputs) {
    std::string line =
        fmt::format(" {} -triple {}", shell_quoted((std::filesystem::path(call.folder) / "metal").string()),
                    shell_quoted(job.wanted.target.triple));
    for (const std::string& word : call.arguments) line += " " + shell_quoted(word);
    messages.note(line);
    if (job.stop != Stop::link) continue;
    messages.note(fmt::format(" {} {} -o {}", shell_quoted((std::filesystem::path(call.folder) / "air-lld").string()),
                              shell_quoted(input.path),
                              shell_quoted(job.output.empty() ? kDefaultLibrary : job.output)));
    break;
  }
}

/// -working-directory: the process goes there, and everything else follows.
Result<void> enter_working_directory(const Parsed& parsed) {
  std::string folder;
  for (const Argument& argument : parsed.arguments)
    if (argument.use == Use::working_directory) folder = argument.value;
  if (folder.empty()) return {};
  std::error_code failed;
  std::filesystem::current_path(folder, failed);
  if (failed) return fail(Errc::file_not_found, "unable to set working directory: {}: {}", folder, failed.message());
  return {};
}

}  // namespace

int run_metal(const Call& call) {
  Messages messages("metal");
  std::string diagnostics_file;
  const auto done = [&]() -> Result<void> {
    SMELT_TRY(const std::vector<std::string> words, expand_responses(call.arguments));
    SMELT_TRY(const Parsed parsed, parse_options(Tool::metal, words));
    SMELT_TRY_VOID(enter_working_directory(parsed));
    SMELT_TRY(Job job, read_job(parsed, messages));
    job.command = command_line(call);
    if (print_asked_of_compiler(call, parsed, job)) return {};
    for (const std::string& warning : parsed.warnings) messages.warning(warning);
    for (const std::string& warning : job.wanted.warnings) messages.warning(warning);
    if (job.verbose || job.dry_run) print_jobs(call, job, messages);
    if (job.dry_run || (job.verbose && job.inputs.empty())) return {};
    diagnostics_file = job.diagnostics_file;
    return run_job(job, messages);
  }();
  if (!done) messages.error(done.error());
  if (!diagnostics_file.empty()) {
    const auto written = write_file(diagnostics_file, aot::serialize_diagnostics(messages.told()));
    if (!written) messages.error(written.error());
  }
  messages.finish();
  return messages.has_errors() ? 1 : 0;
}

}  // namespace smelt::toolchain
