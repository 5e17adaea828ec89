// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors at the user's line that Clang itself does not have.
#pragma once

#include "clang/Sema/Sema.h"

#include <string>

namespace smelt::aot::msl {

/// The error for any other argument, whoever notices it: Clang or check_strictness.
inline constexpr char kWantsFunctionConstant[] =
    "'is_function_constant_defined' takes the name of a variable with [[function_constant(n)]]";

inline void report_error(clang::Sema& sema, clang::SourceLocation at, const std::string& text) {
  clang::DiagnosticsEngine& engine = sema.getDiagnostics();
  engine.Report(at, engine.getCustomDiagID(clang::DiagnosticsEngine::Error, "%0")) << text;
}

}  // namespace smelt::aot::msl
