// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program's side: finds libsmelt-aot.so and takes its functions. The calls are in a made file of assembly.
#include "smelt/base/platform.hpp"
#include "smelt/base/shared_library.hpp"
#include "smelt/base/trusted_files.hpp"

#include "opened.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace smelt::aot {
namespace {

/// An installation and a build have it in a folder of libraries, a wheel beside the program or in a folder of Python's
/// modules.
Result<std::filesystem::path> compiler_file() {
  static const int here = 0;
  return find_beside(platform::folder_of_code(&here),
                     {"../" SMELT_LIBRARY_FOLDER "/smelt", "../lib/smelt", "", "_bin", "../../lib/smelt"},
                     "libsmelt-aot.so");
}

/// As an error of the command; there is nothing to go on with.
[[noreturn]] void give_up(std::string_view why) {
  std::fflush(stdout);
  fmt::print(stderr, "smelt: error: {} (toolchain_missing)\n", why);
  std::fflush(stderr);
  std::_Exit(1);
}

std::atomic<bool> opened{false};

Result<void> take_functions() {
  const auto found = compiler_file();
  if (!found && found.error().code == Errc::file_not_found)
    return fail(Errc::toolchain_missing, "libsmelt-aot.so, the compiler, was not found beside smelt");
  if (!found) return fail(Errc::toolchain_missing, "{}", found.error().message);
  const std::string file = found->string();
  SharedLibrary library(file.c_str());
  const auto* const table = library.find<const smelt_opened_table_t*>("smelt_opened_table");
  if (table == nullptr) return fail(Errc::toolchain_missing, "{}", library.trouble());
  if (table->count != smelt_opened_count || std::string_view(table->identity) != smelt_opened_identity)
    return fail(Errc::toolchain_missing, "{}: it belongs to another smelt", file);
  for (uint64_t i = 0; i < table->count; ++i) smelt_opened_functions[i] = table->functions[i];
  opened = true;
  return {};
}

}  // namespace
}  // namespace smelt::aot

extern "C" bool smelt_compiler_is_open() noexcept {
  return smelt::aot::opened.load(std::memory_order_acquire);
}

extern "C" const char* smelt_compiler_trouble() noexcept {
  static const auto* const trouble = new std::string([] {
    const auto taken = smelt::aot::take_functions();
    return taken ? std::string() : taken.error().message;
  }());
  return trouble->empty() ? nullptr : trouble->c_str();
}

extern "C" void smelt_open_compiler() noexcept {
  if (const char* const trouble = smelt_compiler_trouble()) smelt::aot::give_up(trouble);
}
