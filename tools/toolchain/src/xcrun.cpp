// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// xcrun: runs one of our tools, or what else is on PATH, and says where things are.
#include "smelt/toolchain/toolchain.hpp"

#include "tools.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace smelt::toolchain {
namespace {

constexpr int kNoUtility = 72;

/// A program on PATH that is not this one's folder.
std::string on_path(const std::string& name, const std::string& own_folder) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : std::string();
  return find_on_path(name,
                      [&](const std::filesystem::path& candidate) {
                        std::error_code ignored;
                        const std::filesystem::path folder = candidate.parent_path();
                        return !folder.empty() && !std::filesystem::equivalent(folder, own_folder, ignored) &&
                               std::filesystem::is_regular_file(candidate, ignored) &&
                               ::access(candidate.c_str(), X_OK) == 0;
                      })
      .string();
}

int fail_with(std::string_view text, int code) {
  fmt::print(stderr, "xcrun: error: {}\n", printable(text));
  return code;
}

/// The folder that stands for an SDK, which `smelt toolchain` made beside the links.
std::string sdk_path(const Call& call, const System& system) {
  namespace fs = std::filesystem;
  const fs::path all = fs::path(call.folder) / "SDKs";
  if (const fs::path folder = all / sdk_folder(system); fs::is_directory(folder)) return folder.string();
  // Made when SMELT_SDK_VERSION said something else. Its name says the platform, and that counts.
  std::error_code failed;
  for (const fs::directory_entry& one : fs::directory_iterator(all, failed)) {
    const auto of = system_of_sdk(one.path().string());
    if (of && *of == system && one.is_directory(failed)) return one.path().string();
  }
  return {};
}

struct Asked {
  System system;
  bool has_sdk = false, find = false, log = false;
};

/// The --show-... options and the like: prints, and gives the exit code; nothing when there was none.
std::optional<int> print_asked_of_xcrun(const Call& call, const Parsed& parsed, const Asked& asked) {
  for (const Argument& argument : parsed.arguments) {
    switch (argument.use) {
      case Use::sdk_path: {
        const std::string path = sdk_path(call, asked.system);
        if (path.empty())
          return fail_with(fmt::format("SDK \"{}\" cannot be located: call xcrun from the folder that 'smelt toolchain "
                                       "DIR' made",
                                       sdk_name(asked.system)),
                           1);
        fmt::print("{}\n", path);
        return 0;
      }
      case Use::sdk_version:
        fmt::print("{}\n", sdk_version(asked.system));
        return 0;
      case Use::sdk_build:
        fmt::print("smelt\n");
        return 0;
      case Use::platform_path:
        fmt::print("{}\n", call.folder);
        return 0;
      case Use::version:
        fmt::print("xcrun version 0. (smelt {})\n", SMELT_VERSION);
        return 0;
      case Use::help:
        fmt::print("usage: xcrun [options] tool [arguments]\n{}", option_help(Tool::xcrun));
        return 0;
      default:
        break;
    }
  }
  return std::nullopt;
}

/// Replaces this process; comes back only when that fails.
int execute(const std::string& program, std::span<const std::string> words) {
  std::vector<std::string> copies(words.begin(), words.end());
  copies[0] = program;
  std::vector<char*> pointers;
  for (std::string& word : copies) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::fflush(nullptr);
  ::execv(program.c_str(), pointers.data());
  return fail_with(fmt::format("cannot run {}", program), 1);
}

int run_utility(const Call& call, const Asked& asked, std::span<const std::string> words) {
  const std::string& name = words[0];
  const auto names = tool_names();
  const bool ours = name != "xcrun" && std::find(names.begin(), names.end(), name) != names.end();
  const std::string other = ours ? std::string() : on_path(name, call.folder);
  if (!ours && other.empty())
    return fail_with(fmt::format("unable to find utility \"{}\", not a developer tool or in PATH", name), kNoUtility);
  const std::string place = ours ? (std::filesystem::path(call.folder) / name).string() : other;
  if (asked.find) {
    fmt::print("{}\n", place);
    return 0;
  }
  if (asked.log) {
    std::string line = place;
    for (const std::string& word : words.subspan(1)) line += " " + shell_quoted(word);
    fmt::print(stderr, "{}\n", printable(line));
  }
  // As Apple's: the tool learns its SDK from the environment.
  if (asked.has_sdk) {
    std::string root = sdk_path(call, asked.system);
    if (root.empty()) root = sdk_folder(asked.system);
    ::setenv("SDKROOT", root.c_str(), 1);
  }
  if (!ours) return execute(other, words);
  return *run_tool({name, call.folder, std::vector<std::string>(words.begin() + 1, words.end())});
}

}  // namespace

int run_xcrun(const Call& call) {
  const auto parsed = parse_options(Tool::xcrun, call.arguments, true);
  if (!parsed) return fail_with(parsed.error().message, 1);
  Asked asked;
  if (const char* root = std::getenv("SDKROOT"); root != nullptr && *root != 0)
    if (const auto system = system_of_sdk(root)) asked.system = *system;
  for (const Argument& argument : parsed->arguments) {
    if (argument.use == Use::find) asked.find = true;
    if (argument.use == Use::log) asked.log = true;
    if (argument.use != Use::sdk) continue;
    const auto system = system_of_sdk(argument.value);
    if (!system) return fail_with(system.error().message, 1);
    asked.system = *system;
    asked.has_sdk = true;
  }
  if (const auto code = print_asked_of_xcrun(call, *parsed, asked)) return *code;
  if (parsed->rest >= call.arguments.size()) {
    // "xcrun -find" and nothing behind it is a mistake; -k alone is not.
    if (!asked.find && !parsed->arguments.empty()) return 0;
    fmt::print(stderr, "usage: xcrun [options] tool [arguments]\n");
    return 64;
  }
  return run_utility(call, asked, std::span(call.arguments).subspan(parsed->rest));
}

}  // namespace smelt::toolchain
