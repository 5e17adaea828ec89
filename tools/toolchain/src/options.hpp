// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words of a command line to options, by the table options.def. A table of our own, because CLI11 has no long options
// with one dash and LLVM's OptTable would bring LLVM out of aot.
#pragma once

#include "smelt/base/result.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::toolchain {

enum class Tool : uint8_t { metal, metallib, xcrun };
enum class Shape : uint8_t { flag, joined, separate, either };
enum class Fate : uint8_t { honoured, ignored, warned, refused };

enum class Use : uint8_t {
  none,
  refused,
  warned,
  input,
  arch,
  colour,
  comments,
  compile_only,
  code,
  debug,
  define,
  depend_all,
  depend_file,
  depend_only_all,
  depend_only_user,
  depend_phony,
  depend_quoted,
  depend_target,
  depend_user,
  diagnostics_file,
  dry_run,
  error_limit,
  find,
  forward,
  help,
  include_file,
  include_folder,
  language,
  log,
  logging,
  macro_comments,
  macros,
  min_ios,
  min_ios_simulator,
  min_macos,
  min_tvos,
  min_tvos_simulator,
  no_colour,
  no_debug,
  no_line_markers,
  output,
  platform_path,
  platform_version,
  preprocess,
  print_triple,
  quote_folder,
  record,
  sdk,
  sdk_build,
  sdk_path,
  sdk_version,
  search_dirs,
  show_headers,
  std,
  syntax_only,
  working_directory,
  sysroot,
  system_folder,
  target,
  text,
  toolchain,
  undefine,
  verbose,
  version,
  warning,
};

struct OptionRow {
  Tool tool;
  Use use;
  std::string_view spelling;
  Shape shape;
  Fate fate;
  std::string_view says;
};

/// An option as it was given, or an input (`row` is null, `value` the file).
struct Argument {
  Use use = Use::input;
  std::string value;
  std::string word;  ///< as it stood there
  const OptionRow* row = nullptr;
};

/// Up to the first word that is no option when `stops` (what follows is the tool's that xcrun runs): `rest` is the
/// index of that word. Errors, each with the word: unknown options, missing values, refused options.
struct Parsed {
  std::vector<Argument> arguments;
  std::vector<std::string> warnings;
  size_t rest = 0;
};
Result<Parsed> parse_options(Tool tool, std::span<const std::string> words, bool stops = false);

/// "@file" replaced by the words of the file, quoted as for a shell or GNU's libiberty; files in files too.
Result<std::vector<std::string>> expand_responses(std::span<const std::string> words);

/// What --help prints.
std::string option_help(Tool tool);

}  // namespace smelt::toolchain
