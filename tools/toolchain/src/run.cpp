// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which tool, by its name; and what they share.
#include "smelt/base/files.hpp"
#include "smelt/toolchain/toolchain.hpp"

#include "tools.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace smelt::toolchain {
namespace {

namespace fs = std::filesystem;

struct ToolRow {
  std::string_view name;
  int (*run)(const Call&);
};
constexpr ToolRow kTools[] = {
    {"xcrun", run_xcrun},
    {"metal", run_metal},
    {"metallib", run_metallib},
    {"air-lld", run_metallib},
    {"metal-ar", run_ar},
    {"metal-config", run_config},
    {"metal-dsymutil", run_dsymutil},
    {"metal-libtool", run_libtool},
    {"metal-lipo", run_lipo},
    {"metal-nm", run_nm},
    {"metal-objdump", run_objdump},
    {"metal-readobj", run_readobj},
    {"metal-source", run_source},
    {"metal-package-builder", run_gpu_back_end},
    {"metal-tt", run_gpu_back_end},
    {"sw_vers", run_sw_vers},
    {"xcode-select", run_xcode_select},
};

constexpr auto kNames = [] {
  std::array<std::string_view, std::size(kTools)> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTools[i].name;
  return names;
}();

/// The folder of what was called: named outright, or the first on PATH that has it.
std::string folder_of(const std::string& path) {
  std::error_code ignored;
  const bool is_named = path.find('/') != std::string::npos;
  const fs::path found =
      is_named ? fs::path(path)
               : find_on_path(path, [&](const fs::path& candidate) { return fs::exists(candidate, ignored); });
  return fs::absolute(found.parent_path(), ignored).string();
}

Result<void> replace_link(const fs::path& link, const fs::path& program) {
  std::error_code error;
  const auto status = fs::symlink_status(link, error);
  if (fs::exists(status) && !fs::is_symlink(status))
    return fail(Errc::io, "{}: there is a file of that name already, and it is not a link", link.string());
  fs::remove(link, error);
  fs::create_symlink(program, link, error);
  if (error) return fail(Errc::io, "{}: cannot link: {}", link.string(), error.message());
  return {};
}

}  // namespace

std::span<const std::string_view> tool_names() {
  return kNames;
}

bool is_tool(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::optional<int> run_tool(const Call& call) {
  for (const ToolRow& row : kTools)
    if (row.name == call.tool) return row.run(call);
  return std::nullopt;
}

int run(const std::string& path, std::span<const std::string> arguments) {
  const Call call{fs::path(path).filename().string(), folder_of(path), {arguments.begin(), arguments.end()}};
  const int code = run_tool(call).value_or(1);
  if (std::fflush(stdout) == 0) return code;
  std::perror("stdout");
  return 1;
}

Result<void> install(const fs::path& folder, const fs::path& program) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail(Errc::io, "{}: cannot be made: {}", folder.string(), error.message());
  for (const std::string_view name : kNames) SMELT_TRY_VOID(replace_link(folder / name, program));
  for (const System& system : systems()) {
    const fs::path sdk = folder / "SDKs" / sdk_folder(system);
    fs::create_directories(sdk, error);
    if (error) return fail(Errc::io, "{}: cannot be made: {}", sdk.string(), error.message());
    const std::string settings =
        fmt::format("{{\"CanonicalName\": \"{0}{1}\", \"Version\": \"{1}\"}}\n", sdk_name(system), sdk_version(system));
    SMELT_TRY_VOID(write_file(sdk / "SDKSettings.json", as_bytes(settings)));
  }
  return {};
}

int exit_code(const Call& call, const Result<void>& done) {
  if (done) return 0;
  Messages(call.tool).error(done.error());
  return 1;
}

fs::path find_on_path(const std::string& name, const std::function<bool(const fs::path&)>& fits) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    if (!folder.starts_with('/')) continue;  // of whoever made the current folder
    if (fs::path candidate = fs::path(folder) / name; fits(candidate)) return candidate;
  }
  return {};
}

std::shared_ptr<service::Session> open_session() {
  static const std::shared_ptr<service::Session> session = service::Session::open();
  return session;
}

std::string version_text(const Call& call, const aot::Target& target) {
  // The number is that of Apple's compiler in Xcode 16, which knows the same languages; build files compare it.
  // Slang takes for Metal's compiler only what says Apple's name before that number.
  return fmt::format(
      "metal version 32023.0 (smelt {})\nTarget: {}\nThread model: posix\nInstalledDir: {}\nCompatible with: Apple "
      "metal "
      "version 32023.0\n",
      SMELT_VERSION, target.triple, call.folder);
}

std::string command_line(const Call& call) {
  std::string line = shell_quoted((fs::path(call.folder) / call.tool).string());
  for (const std::string& word : call.arguments) line += " " + shell_quoted(word);
  return line;
}

std::string shell_quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ01234567"
                                          "89_-./=,:+@%") == std::string::npos;
  if (plain) return word;
  std::string text = "\"";
  for (const char c : word) {
    if (c == '"' || c == '\\' || c == '$' || c == '`') text += '\\';
    text += c;
  }
  return text + "\"";
}

}  // namespace smelt::toolchain
