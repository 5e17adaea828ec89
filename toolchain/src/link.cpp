// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metallib and air-lld: objects, archives of them and libraries to one library.
#include "smelt/base/files.hpp"

#include "tools.hpp"

#include <cstdio>

namespace smelt::toolchain {
namespace {

/// "libx.metalar" -> "libx.metalar(a.air)": which member it is about.
std::string member_name(const std::string& archive, const std::string& member) {
  return fmt::format("{}({})", archive, member);
}

/// The newest system of one platform that an input is for.
Result<aot::Target> target_of_inputs(const LinkInputs& inputs, const Wanted& wanted) {
  std::optional<aot::Target> newest;
  std::string from;
  for (const aot::Source& file : inputs.files()) {
    auto target = aot::built_for(file.bytes);
    if (!target) continue;
    if (newest && newest->platform != target->platform)
      return fail(Errc::invalid_argument, "{} is for {}, and {} is for {}; name a target (-target)", from,
                  to_string(newest->platform), file.name, to_string(target->platform));
    if (newest && !(newest->os < target->os)) continue;
    newest = std::move(target);
    from = file.name;
  }
  return newest ? std::move(*newest) : wanted.target;
}

Result<void> link(const Call& call, const Parsed& parsed, Messages& messages) {
  for (const std::string& warning : parsed.warnings) messages.warning(warning);
  SMELT_TRY(const Wanted wanted, choose_target(parsed.arguments));
  for (const std::string& warning : wanted.warnings) messages.warning(warning);
  std::string output = kDefaultLibrary;
  LinkInputs inputs;
  bool any = false, only_version = false;
  for (const Argument& argument : parsed.arguments) {
    if (argument.use == Use::output) output = argument.value;
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

void LinkInputs::add(std::string name, Bytes bytes) {
  owned_.push_back(std::move(bytes));
  files_.push_back({std::move(name), owned_.back()});
}

Result<void> LinkInputs::add_bytes(std::string name, ByteView bytes) {
  if (!aot::is_archive(bytes)) {
    files_.push_back({std::move(name), bytes});
    return {};
  }
  SMELT_TRY(const std::vector<aot::ArchiveMember> members, aot::read_archive(bytes, name));
  for (const aot::ArchiveMember& member : members) files_.push_back({member_name(name, member.name), member.bytes});
  return {};
}

Result<void> link_files(const LinkInputs& inputs, const Wanted& wanted, const std::string& output, Messages& messages) {
  aot::Target target = wanted.target;
  if (!wanted.is_explicit) {
    SMELT_TRY(target, target_of_inputs(inputs, wanted));
  }
  SMELT_TRY(const service::BuiltFile library, open_session()->link(inputs.files(), target));
  for (const std::string& warning : library.warnings) messages.compiler_warning(warning);
  return write_file(output, library.bytes);
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
