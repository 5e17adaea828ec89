// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One Clang, set up for Metal. Private to the front end.
#pragma once

#include "smelt/base/files.hpp"

#include "msl/diagnostics.hpp"
#include "msl/frontend.hpp"

#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"

#include <memory>
#include <string>
#include <string_view>

namespace smelt::aot::msl {

/// The precompiled headers of one version of the language, for every platform and math mode.
struct Precompiled {
  std::string made;                        ///< here and now,
  std::shared_ptr<const MappedFile> kept;  ///< or by another, in a file
  std::string_view bytes;                  ///< of either
};

/// The source that is precompiled, and where it seems to lie.
inline constexpr const char* kPrecompiledSource = "#include <metal_stdlib>\n";
inline constexpr const char* kPrecompiledSourcePath = "/smelt/all.h";

/// From this process, else from the cache folder, else made now (and kept in both). Threads: any number at once.
Result<std::shared_ptr<const Precompiled>> precompiled_headers(const MslOptions& options);

enum class CompilerUse : uint8_t {
  headers,     ///< to precompile them
  source,      ///< with precompiled headers
  preprocess,  ///< without
};

/// A compiler over `text`, whose messages go to `messages`. `precompiled` is for sources alone.
std::unique_ptr<clang::CompilerInstance> make_compiler(std::string_view text, std::string_view name,
                                                       const MslOptions& options, DiagnosticCollector& messages,
                                                       CompilerUse use, const Precompiled* precompiled);

/// Runs an action with the AIR target. False: it could not begin, or errors were reported.
bool run_action(clang::CompilerInstance& compiler, clang::FrontendAction& action);

}  // namespace smelt::aot::msl
