// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt clangd-config: what makes clangd understand the .metal files of a project.
#include "smelt/aot/editor.hpp"
#include "smelt/base/files.hpp"

#include "verbs.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>

namespace smelt::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = "# Made by smelt clangd-config, which may write it again.\n";

struct ClangdOptions {
  std::string project = ".";
  std::string target = aot::default_target().name;
  std::vector<std::string> include_folders, definitions;
  bool print_only = false;
};

/// YAML takes strings and lists as JSON has them.
std::string quoted(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string config(const ClangdOptions& options, const aot::Target& target, const fs::path& headers) {
  std::vector<std::string> flags = aot::editor_flags(target, headers.string());
  for (const std::string& definition : options.definitions) flags.push_back("-D" + definition);
  for (const std::string& folder : options.include_folders) flags.push_back("-I" + fs::absolute(folder).string());
  std::vector<std::string> alarms;
  for (const std::string_view name : aot::editor_false_alarms()) alarms.emplace_back(name);
  return fmt::format(
      "If:\n  PathMatch: .*\\.metal\nCompileFlags:\n  Compiler: clang++\n  Add: {}\nDiagnostics:\n  Suppress: {}\n  "
      "ClangTidy:\n    Remove: [\"*\"]\n",
      quoted(flags), quoted(alarms));
}

/// A project may be somebody else's, who could have made a link where a folder of ours is: what is written stays in it.
Result<void> check_no_link(const fs::path& project, const fs::path& file) {
  for (fs::path folder = file.parent_path(); folder != project && folder.has_relative_path();
       folder = folder.parent_path())
    if (std::error_code error; fs::is_symlink(fs::symlink_status(folder, error)))
      return fail(Errc::untrusted, "{}: is a link, and nothing is written through it; remove it", folder.string());
  return {};
}

Result<void> write_headers(const fs::path& project, const fs::path& folder) {
  for (const aot::EditorHeader& header : aot::editor_headers()) {
    const fs::path path = folder / header.name;
    SMELT_TRY_VOID(check_no_link(project, path));
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) return fail(Errc::io, "{}: {}", path.parent_path().string(), error.message());
    SMELT_TRY_VOID(write_file(path, as_bytes(header.text)));
  }
  return {};
}

Result<void> run_clangd_config(const ClangdOptions& options) {
  SMELT_TRY(const aot::Target target, aot::parse_target(options.target));
  std::error_code error;
  const fs::path project = fs::canonical(options.project, error);
  if (error) return fail(Errc::file_not_found, "{}: {}", options.project, error.message());
  const fs::path file = project / ".clangd", own = project / ".smelt";
  if (!options.print_only && fs::exists(file)) {
    SMELT_TRY(const Bytes before, read_file(file));
    if (!as_text(before).starts_with(kMark))
      return fail(
          Errc::io,
          "{}: smelt did not make this file and does not change it; append the output of `smelt clangd-config --print` "
          "to it, after a line `---`",
          file.string());
  }
  SMELT_TRY_VOID(write_headers(project, own / "include"));
  SMELT_TRY_VOID(write_file(own / ".gitignore", as_bytes(std::string_view("*\n"))));
  const std::string text = config(options, target, own / "include");
  if (options.print_only) return print(text);
  return write_file(file, as_bytes(std::string(kMark) + text));
}

}  // namespace

void add_clangd_config(CLI::App& app, Context& context) {
  CLI::App* verb =
      app.add_subcommand("clangd-config", "Write what clangd needs to understand a project's .metal files");
  auto options = std::make_shared<ClangdOptions>();
  verb->add_option("FOLDER", options->project,
                   "The project; .clangd and .smelt are written there (default: this folder)");
  verb->add_option("--target", options->target, "Target whose Metal version the source uses (default: macos14)");
  verb->add_option("-I,--include", options->include_folders, "Folder with included files; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("-D,--define", options->definitions, "Macro to define, NAME or NAME=VALUE; may be repeated")
      ->allow_extra_args(false);
  verb->add_flag("--print", options->print_only, "Print the text of .clangd instead of writing it");
  verb->callback([options, &context] { context.finish(run_clangd_config(*options)); });
}

}  // namespace smelt::cli
