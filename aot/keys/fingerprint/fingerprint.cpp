// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/aot/fingerprint.hpp"

#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/universal.hpp"

#include "build_identity.hpp"
#include "fingerprint/fingerprint_fields.hpp"
#include "fingerprint/launch_metadata.hpp"
#include "inputs/headers.hpp"
#include "inputs/includes.hpp"
#include "inputs/kind.hpp"

#include <algorithm>
#include <set>

namespace smelt::aot {
namespace {

/// Changes when the fields below change their meaning.
constexpr std::string_view kKeyFormat = "smelt key 6";

void add_version(Hasher& hasher, const Version& version) {
  hasher.field(uint64_t{version.major});
  hasher.field(uint64_t{version.minor});
  hasher.field(uint64_t{version.patch});
}

void add_flag(Hasher& hasher, std::string_view name, bool value) {
  hasher.field(name);
  hasher.field(uint64_t{value});
}

void add_options(Hasher& hasher, const CompileOptions& options, std::span<const FingerprintField> more) {
  add_code_options(hasher, options);
  std::set<std::string_view> done;
  std::vector<const Target*> targets;
  for (const Target& target : options.targets)
    if (done.insert(target.name).second) targets.push_back(&target);
  std::sort(targets.begin(), targets.end(), [](const Target* a, const Target* b) { return a->name < b->name; });
  hasher.field(uint64_t{targets.size()});
  for (const Target* target : targets) add_target(hasher, *target);
  const std::set<std::string_view> kernels(options.kernels.begin(), options.kernels.end());
  hasher.field(uint64_t{kernels.size()});
  for (const std::string_view kernel : kernels) hasher.field(kernel);
  add_flag(hasher, "object", options.object);
  const std::set<std::string_view> functions(options.functions.begin(), options.functions.end());
  hasher.field(uint64_t{functions.size()});
  for (const std::string_view function : functions) hasher.field(function);
  std::vector<const FingerprintField*> fields;
  for (const FingerprintField& field : more) fields.push_back(&field);
  std::sort(fields.begin(), fields.end(), [](const FingerprintField* a, const FingerprintField* b) {
    return std::tie(a->name, a->value) < std::tie(b->name, b->value);
  });
  hasher.field(uint64_t{fields.size()});
  for (const FingerprintField* field : fields) {
    hasher.field(field->name);
    hasher.field(field->value);
  }
}

/// A library's functions and modules; not its UUID, embedded sources or paths.
Result<void> add_library(Hasher& hasher, const Source& source) {
  SMELT_TRY(const std::vector<metallib::Image> images, metallib::find_images(source.bytes));
  SMELT_TRY(const metallib::Library library, metallib::read(images.front().bytes));
  hasher.field("metallib");
  hasher.field(uint64_t{library.patch});
  hasher.field(uint64_t{library.functions.size()});
  for (const metallib::Function& function : library.functions) {
    hasher.field(function.name);
    hasher.field(uint64_t{function.type.value_or(255)});
    hasher.field(uint64_t{function.versions.air_major} << 48 | uint64_t{function.versions.air_minor} << 32 |
                 uint64_t{function.versions.language_major} << 16 | function.versions.language_minor);
    hasher.field(library.module_of(function).bitcode());
    for (const metallib::Tag& tag : library.public_of(function).tags) {
      hasher.field(tag.name.text());
      hasher.field(tag.payload);
    }
  }
  return {};
}

/// Everywhere that an include may be found, in the order of looking.
msl::Includes includes_of(const Source& source, const CompileOptions& options) {
  msl::IncludeFolders folders{options.quote_folders, options.include_folders};
  folders.all.insert(folders.all.end(), options.system_folders.begin(), options.system_folders.end());
  return msl::scan_includes(as_text(source.bytes), source.name, folders, options.forced_includes);
}

/// Whether a text may ask where it stands: then its place is part of what is made of it.
bool asks_for_its_place(ByteView bytes) {
  constexpr std::string_view kWords[] = {"__LINE__",       "__FILE",           "__BASE_FILE__",  "__builtin_LINE",
                                         "__builtin_FILE", "__builtin_COLUMN", "source_location"};
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view word) { return as_text(bytes).find(word) != std::string_view::npos; });
}

/// Metal source: what it includes counts as much as its own text, and so do the headers of the standard library. Names
/// of files count only where the result may show them, so that the same text is the same in every folder.
void add_msl(Hasher& hasher, const Source& source, const CompileOptions& options, bool normalised) {
  hasher.field("msl");
  hasher.field(msl::smelt_embedded_headers_sha256);
  hasher.field(uint64_t{options.definitions.size()});
  for (const std::string& definition : options.definitions) hasher.field(definition);
  // Flags that shape messages count too: -Werror decides whether there is a result at all.
  for (const auto* words : {&options.undefinitions, &options.warning_flags}) {
    hasher.field(uint64_t{words->size()});
    for (const std::string& word : *words) hasher.field(word);
  }
  hasher.field(uint64_t{options.system_folders.size()});  // what is found there gives no warnings
  hasher.field(uint64_t{options.forced_includes.size()});
  const msl::Includes includes = includes_of(source, options);
  bool shows_places = options.debug_lines || asks_for_its_place(source.bytes);
  for (const msl::IncludedFile& file : includes.files) shows_places |= asks_for_its_place(file.bytes);
  for (const std::string& definition : options.definitions) shows_places |= asks_for_its_place(as_bytes(definition));
  add_flag(hasher, "places", shows_places);
  const std::string hidden = msl::hidden_prefix(source.name);
  const auto add = [&](std::string_view name, ByteView bytes) {
    if (!hidden.empty() && name.starts_with(hidden)) name.remove_prefix(hidden.size());
    if (shows_places) hasher.field(name);
    if (normalised && !shows_places)
      hasher.field(msl::without_comments(as_text(bytes)));
    else
      hasher.field(bytes);
  };
  add(source.name, source.bytes);
  hasher.field(uint64_t{includes.files.size()});
  for (const msl::IncludedFile& file : includes.files) add(file.path, file.bytes);
  for (const std::string& missing : includes.missing) hasher.field(missing);
}

}  // namespace

bool is_metal_source(ByteView bytes) {
  return input::detect_kind(bytes) == input::Kind::msl;
}
bool is_metal_library(ByteView bytes) {
  const input::Kind kind = input::detect_kind(bytes);
  return kind == input::Kind::metallib || kind == input::Kind::universal;
}

void add_target(Hasher& hasher, const Target& target) {
  hasher.field(target.name);
  hasher.field(target.triple);
  add_version(hasher, target.os);
  add_version(hasher, target.air);
  add_version(hasher, target.language);
  hasher.field(uint64_t{target.container_patch});
}

void add_code_options(Hasher& hasher, const CompileOptions& options) {
  hasher.field(kKeyFormat);
  hasher.field(compiler_identity());
  hasher.field("math");
  hasher.field(static_cast<uint64_t>(options.math.mode));
  add_flag(hasher, "fast_functions", options.math.fast_functions);
#define SMELT_FLAG(member, ...) \
  if (options.member) hasher.field(#member);
#include "smelt/aot/options.def"
  add_flag(hasher, "language", options.language.has_value());
  add_version(hasher, options.language.value_or(Version{}));
}

std::vector<std::string> source_dependencies(const Source& source, const CompileOptions& options) {
  std::vector<std::string> paths;
  if (input::detect_kind(source.bytes) != input::Kind::msl) return paths;
  msl::Includes includes = includes_of(source, options);
  for (msl::IncludedFile& file : includes.files) paths.push_back(std::move(file.path));
  return paths;
}

std::string_view compiler_identity() {
  // Threads may read it while statics go.
  static const auto& identity =
      *new std::string(fmt::format("smelt {} ({}) LLVM {}", SMELT_VERSION, SMELT_SOURCE_IDENTITY, SMELT_LLVM_VERSION));
  return identity;
}

KeyFacts key_facts() {
  KeyFacts facts{kKeyFormat, compiler_identity(), msl::smelt_embedded_headers_sha256, {}};
  for (unsigned long i = 0; i < msl::smelt_embedded_header_count; ++i)
    facts.header_names.emplace_back(msl::smelt_embedded_headers[i].name);
  return facts;
}

Digest raw_fingerprint(std::span<const Source> sources, const CompileOptions& options,
                       std::span<const FingerprintField> more) {
  Hasher hasher;
  hasher.field("raw");
  add_options(hasher, options, more);
  add_number(hasher, "threadgroup_memory", options.threadgroup_memory);
  add_number(hasher, "threads_per_threadgroup", options.threads_per_threadgroup);
  hasher.field(options.metadata_json);
  hasher.field(uint64_t{sources.size()});
  for (const Source& source : sources) {
    if (input::detect_kind(source.bytes, source.name) == input::Kind::msl)
      add_msl(hasher, source, options, false);
    else
      hasher.field(source.bytes);
  }
  return hasher.finish();
}

std::vector<FingerprintField> fingerprint_fields(std::span<const Source> sources, const CompileOptions& options,
                                                 std::span<const FingerprintField> more) {
  std::vector<FingerprintField> fields(more.begin(), more.end());
  const auto digest = [](ByteView bytes) { return to_hex(sha256(bytes)); };
  const auto version = [](const Version& of) { return fmt::format("{}.{}.{}", of.major, of.minor, of.patch); };
  fields.push_back({"compiler", std::string(compiler_identity())});
  fields.push_back({"standard library", std::string(msl::smelt_embedded_headers_sha256)});
  constexpr const char* kModes[] = {"safe", "relaxed", "fast"};
  fields.push_back({"math mode", kModes[static_cast<int>(options.math.mode)]});
  fields.push_back({"float functions", options.math.fast_functions ? "fast" : "precise"});
#define SMELT_FLAG(member, ...) \
  if (options.member) fields.push_back({"option " #member, ""});
#define SMELT_NUMBER(member, ...) \
  if (options.member) fields.push_back({"option " #member, fmt::format("{}", *options.member)});
#define SMELT_TEXTS(member, ...) \
  for (const std::string& text : options.member) fields.push_back({"option " #member " " + text, ""});
#include "smelt/aot/options.def"
  if (options.language) fields.push_back({"language", version(*options.language)});
  if (options.object) fields.push_back({"object", ""});
  if (!options.metadata_json.empty()) fields.push_back({"metadata", options.metadata_json});
  for (const Target& target : options.targets)
    fields.push_back({"target " + target.name, fmt::format("{}, Metal {}, AIR {}", version(target.os),
                                                           version(target.language), version(target.air))});
  for (const Source& source : sources) {
    fields.push_back({"source " + source.name, digest(source.bytes)});
    if (input::detect_kind(source.bytes, source.name) != input::Kind::msl) continue;
    const msl::Includes includes = includes_of(source, options);
    for (const msl::IncludedFile& file : includes.files) fields.push_back({"include " + file.path, digest(file.bytes)});
    for (const std::string& missing : includes.missing) fields.push_back({"missing include " + missing, ""});
  }
  return fields;
}

Result<Digest> normalised_fingerprint(std::span<const Source> sources, const CompileOptions& options,
                                      std::span<const FingerprintField> more) {
  SMELT_TRY(LaunchMetadata launch, parse_launch_metadata(options.metadata_json));
  if (options.threadgroup_memory) launch.threadgroup_memory = options.threadgroup_memory;
  if (options.threads_per_threadgroup) launch.threads_per_threadgroup = options.threads_per_threadgroup;
  Hasher hasher;
  hasher.field("normalised");
  add_options(hasher, options, more);
  add_number(hasher, "threadgroup_memory", launch.threadgroup_memory);
  add_number(hasher, "threads_per_threadgroup", launch.threads_per_threadgroup);
  hasher.field(uint64_t{sources.size()});
  for (const Source& source : sources) {
    if (is_metal_library(source.bytes)) {
      auto added = add_library(hasher, source);
      if (!added) return tl::unexpected(std::move(added).error().in(source.name));
    } else if (input::detect_kind(source.bytes, source.name) == input::Kind::msl) {
      add_msl(hasher, source, options, true);
    } else {
      SMELT_TRY(const std::string text, anonymous_text(source, options, launch.threads_per_threadgroup.value_or(0)));
      hasher.field("ir");
      hasher.field(text);
    }
  }
  return hasher.finish();
}

}  // namespace smelt::aot
