// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program's side: finds libsmelt-aot.so and takes its functions. The calls are in a made file of assembly.
#include "smelt/base/platform.hpp"
#include "smelt/base/shared_library.hpp"

#include "opened.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>

namespace smelt::aot {
namespace {

/// An installation and a build have it in a folder of libraries, a wheel beside the program.
std::string compiler_file() {
  static const int here = 0;
  const std::filesystem::path folder = platform::folder_of_code(&here);
  std::error_code ignored;
  for (const char* const place : {"../" SMELT_LIBRARY_FOLDER "/smelt", "../lib/smelt", ""})
    if (const auto file = folder / place / "libsmelt-aot.so"; std::filesystem::exists(file, ignored))
      return file.string();
  return {};
}

/// As an error of the command; there is nothing to go on with.
[[noreturn]] void give_up(std::string_view why) {
  std::fflush(stdout);
  fmt::print(stderr, "smelt: error: {} (toolchain_missing)\n", why);
  std::fflush(stderr);
  std::_Exit(1);
}

void take_functions() {
  const std::string file = compiler_file();
  if (file.empty()) give_up("libsmelt-aot.so, the compiler, was not found beside smelt");
  SharedLibrary library(file.c_str());
  const auto* const table = library.find<const smelt_opened_table_t*>("smelt_opened_table");
  if (table == nullptr) give_up(library.trouble());
  if (table->count != smelt_opened_count || std::string_view(table->identity) != smelt_opened_identity)
    give_up(fmt::format("{}: it belongs to another smelt", file));
  for (uint64_t i = 0; i < table->count; ++i) smelt_opened_functions[i] = table->functions[i];
}

}  // namespace
}  // namespace smelt::aot

void smelt_open_compiler() noexcept {
  static std::once_flag once;
  std::call_once(once, smelt::aot::take_functions);
}
