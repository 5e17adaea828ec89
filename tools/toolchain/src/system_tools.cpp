// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Build files ask more of a Mac than Metal's tools. xcode-select and sw_vers answer a part of it here; the tools that
// make code for one GPU say why they do not.
#include "tools.hpp"

#include <algorithm>
#include <cstdio>

namespace smelt::toolchain {
namespace {

bool has_any_of(const Call& call, std::initializer_list<std::string_view> words) {
  return std::any_of(call.arguments.begin(), call.arguments.end(),
                     [&](const std::string& one) { return std::find(words.begin(), words.end(), one) != words.end(); });
}

Result<void> answer_for_xcode(const Call& call) {
  if (has_any_of(call, {"-p", "--print-path", "-print-path"}))
    fmt::print("{}\n", call.folder);
  else if (has_any_of(call, {"-v", "--version"}))
    fmt::print("xcode-select version 0. (smelt {})\n", SMELT_VERSION);
  else
    return fail(Errc::unsupported,
                "-p (the folder of the tools) and --version are answered; there is no Xcode to select");
  return {};
}

/// The system that is compiled for by default: which one this runs on is no question of a Mac's build file.
Result<void> answer_for_system(const Call& call) {
  const std::string version = sdk_version(System{});
  const std::pair<std::string_view, std::string> rows[] = {
      {"ProductName", "macOS"}, {"ProductVersion", version}, {"BuildVersion", "smelt"}};
  if (call.arguments.empty()) {
    for (const auto& [name, value] : rows) fmt::print("{:<16}{}\n", fmt::format("{}:", name), value);
    return {};
  }
  std::string word = call.arguments.front();
  word.erase(0, std::min(word.find_first_not_of('-'), word.size()));
  for (const auto& [name, value] : rows)
    if (call.arguments.size() == 1 &&
        std::ranges::equal(word, name, [](char a, char b) { return (a | 32) == (b | 32); })) {
      fmt::print("{}\n", value);
      return {};
    }
  return fail(Errc::invalid_argument, "want -productName, -productVersion or -buildVersion");
}

/// These tools exist, so that a build file that only looks for them goes on.
Result<void> refuse_gpu_code(const Call& call) {
  if (!has_any_of(call, {"--version", "-v"}))
    return fail(Errc::unsupported,
                "code for one GPU is made by Apple's back ends, which exist only on a Mac; ship the Metal library, and "
                "a Mac makes that code when it first runs");
  fmt::print("{} (smelt {})\n", call.tool, SMELT_VERSION);
  return {};
}

}  // namespace

int run_xcode_select(const Call& call) {
  return exit_code(call, answer_for_xcode(call));
}
int run_sw_vers(const Call& call) {
  return exit_code(call, answer_for_system(call));
}
int run_gpu_back_end(const Call& call) {
  return exit_code(call, refuse_gpu_code(call));
}

}  // namespace smelt::toolchain
