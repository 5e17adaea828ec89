// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metallib and air-lld: objects, archives of them and libraries to one library.
#include "smelt/aot/simulators.hpp"
#include "smelt/base/files.hpp"
#include "smelt/metallib/reader.hpp"

#include "record.hpp"
#include "tools.hpp"

#include <cstdio>

namespace smelt::toolchain {
namespace {

/// "libx.metalar" -> "libx.metalar(a.air)": which member it is about.
std::string member_name(const std::string& archive, const std::string& member) {
  return fmt::format("{}({})", archive, member);
}

/// "iOS", "the simulator of iOS".
std::string system_text(const aot::Target& target) {
  return fmt::format("{}{}", aot::is_simulator(target) ? "the simulator of " : "", to_string(target.platform));
}

/// The system that the first input is for; all are for one platform.
Result<aot::Target> target_of_inputs(const LinkInputs& inputs, const Wanted& wanted) {
  std::optional<aot::Target> first;
  std::string from;
  for (const aot::Source& file : inputs.files()) {
    auto target = aot::built_for(file.bytes);
    if (!target) continue;
    if (first && system_text(*first) != system_text(*target))
      return fail(Errc::invalid_argument, "{} is for {}, and {} is for {}; name a target (-target)", from,
                  system_text(*first), file.name, system_text(*target));
    if (first) continue;
    first = std::move(target);
    from = file.name;
  }
  return first ? std::move(*first) : wanted.target;
}

Result<void> link(const Call& call, const Parsed& parsed, Messages& messages) {
  for (const std::string& warning : parsed.warnings) messages.warning(warning);
  SMELT_TRY(const Wanted wanted, choose_target(parsed.arguments));
  for (const std::string& warning : wanted.warnings) messages.warning(warning);
  LinkOutput output;
  output.command = command_line(call);
  LinkInputs inputs;
  bool any = false, only_version = false;
  for (const Argument& argument : parsed.arguments) {
    if (argument.use == Use::output) output.file = argument.value;
    if (argument.use == Use::help) {
      fmt::print("usage: {} [options] files\n{}", call.tool, option_help(Tool::metallib));
      return {};
    }
    if (argument.use == Use::version || argument.use == Use::verbose) {
      fmt::print("{}", version_text(call, wanted.target));
      only_version = true;
    }
    if (argument.use != Use::input) continue;
    any = true;
    SMELT_TRY_VOID(inputs.add_file(argument.value));
  }
  if (!any && only_version) return {};
  if (!any) return fail(Errc::invalid_argument, "no input files");
  return link_files(inputs, wanted, output, messages);
}

}  // namespace

Result<void> LinkInputs::add_file(const std::string& path) {
  SMELT_TRY(Bytes bytes, read_file(path));
  owned_.push_back(std::move(bytes));
  return add_bytes(path == "-" ? "<stdin>" : path, owned_.back());
}

Result<void> LinkInputs::add(std::string name, Bytes bytes) {
  owned_.push_back(std::move(bytes));
  return add_object(std::move(name), owned_.back());
}

Result<void> LinkInputs::add_object(std::string name, ByteView bytes) {
  SMELT_TRY(const ObjectParts parts, object_parts(bytes, name));
  files_.push_back({std::move(name), parts.object});
  archives_.push_back(parts.archive);
  return {};
}

Result<void> LinkInputs::add_bytes(std::string name, ByteView bytes) {
  if (!aot::is_archive(bytes)) return add_object(std::move(name), bytes);
  SMELT_TRY(const std::vector<aot::ArchiveMember> members, aot::read_archive(bytes, name));
  for (const aot::ArchiveMember& member : members)
    SMELT_TRY_VOID(add_object(member_name(name, member.name), member.bytes));
  return {};
}

Result<std::map<std::string, ByteView>> LinkInputs::recorded() const {
  std::map<std::string, ByteView> of_function;
  for (size_t i = 0; i < files_.size(); ++i) {
    if (metallib::is_metallib(files_[i].bytes)) {
      SMELT_TRY(auto theirs, sources_of_library(files_[i].bytes));
      of_function.merge(theirs);
    }
    if (!archives_[i]) continue;
    SMELT_TRY(const auto symbols, aot::object_symbols(files_[i].bytes, files_[i].name));
    for (const aot::ObjectSymbol& symbol : symbols)
      if (symbol.kind == aot::ObjectSymbol::Kind::entry) of_function.emplace(symbol.name, *archives_[i]);
  }
  return of_function;
}

Result<void> link_files(const LinkInputs& inputs, const Wanted& wanted, const LinkOutput& output, Messages& messages) {
  std::function<Result<aot::Target>()> of_inputs;
  if (!wanted.is_explicit) of_inputs = [&] { return target_of_inputs(inputs, wanted); };
  SMELT_TRY(const service::BuiltFile library, open_session()->link(inputs.files(), wanted.target, of_inputs));
  for (const std::string& warning : library.warnings) messages.compiler_warning(warning);
  SMELT_TRY(const auto recorded, inputs.recorded());
  if (recorded.empty()) return write_file(output.file, library.bytes);
  if (!output.has_sources) {
    messages.warning("-frecord-sources=flat: no companion file is written; the library is without sources");
    return write_file(output.file, library.bytes);
  }
  SMELT_TRY(const Bytes with_sources, attach_sources(library.bytes, output.command, recorded));
  return write_file(output.file, with_sources);
}

int run_metallib(const Call& call) {
  Messages messages(call.tool);
  auto parsed = parse_options(Tool::metallib, call.arguments);
  const auto done = parsed ? link(call, *parsed, messages) : Result<void>(tl::unexpected(parsed.error()));
  if (!done) messages.error(done.error());
  messages.finish();
  return messages.has_errors() ? 1 : 0;
}

}  // namespace smelt::toolchain
