// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/aot/compile.hpp"

#include "msl/frontend.hpp"

#include <algorithm>

namespace smelt::aot::msl {
namespace {

/// Products of tensors that were built for an older system compute garbage (ml-explore/mlx#3586).
constexpr Version kFirstTensors{26, 2};

}  // namespace

MslOptions msl_options(const CompileOptions& options) {
  MslOptions result;
  const auto oldest = std::min_element(options.targets.begin(), options.targets.end(),
                                       [](const Target& a, const Target& b) { return a.language < b.language; });
  const Target& target = oldest == options.targets.end() ? default_target() : *oldest;
  result.language = options.language.value_or(target.language);
  const auto are_all = [&](auto&& fits) {
    return !options.targets.empty() && std::all_of(options.targets.begin(), options.targets.end(), fits);
  };
  if (are_all([](const Target& one) { return one.platform == Platform::tvos; }))
    result.platform = Platform::tvos;
  else if (are_all([](const Target& one) { return one.platform != Platform::macos; }))
    result.platform = Platform::ios;
  result.has_tensors =
      result.language >= Version{4, 0} && are_all([](const Target& one) { return one.os >= kFirstTensors; });
  result.math = options.math;
  result.debug_lines = options.debug_lines;
  result.include_folders = options.include_folders;
  result.quote_folders = options.quote_folders;
  result.definitions = options.definitions;
  result.system_folders = options.system_folders;
  result.undefinitions = options.undefinitions;
  result.forced_includes = options.forced_includes;
  result.warning_flags = options.warning_flags;
  result.functions = options.functions;
  result.object = options.object;
  result.cache_folder = options.cache_folder;
  return result;
}

}  // namespace smelt::aot::msl
