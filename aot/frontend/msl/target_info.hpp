// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Clang has to know about the machine: AIR's data layout, types and address spaces.
#pragma once

#include "clang/Basic/TargetInfo.h"
#include "clang/Basic/TargetOptions.h"

#include <memory>

namespace smelt::aot::msl {

/// Clang's name for the machine; the real AIR triple is written on the finished module. An unknown architecture makes
/// Clang use its plainest calling convention: structs by pointer.
inline constexpr const char* kClangTriple = "air64-unknown-unknown";

/// A target for CompilerInstance::setTarget, which shares ownership.
clang::TargetInfo* make_air_target(const std::shared_ptr<clang::TargetOptions>& options);

}  // namespace smelt::aot::msl
