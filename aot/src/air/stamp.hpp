// The strings and nodes by which an AIR module says what it is (docs/air.md 1.1, 1.2).
#pragma once

#include "smelt/aot/target.hpp"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace llvm {
class Module;
}

namespace smelt::aot::air {

/// The one data layout of AIR 2.0 and later.
inline constexpr const char* kDataLayout =
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-"
    "v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32";

/// !air.version and !air.language_version; empty when absent or malformed.
std::optional<Version> air_version(const llvm::Module& module);
std::optional<Version> language_version(const llvm::Module& module);
std::optional<Version> version_in(const llvm::Module& module, llvm::StringRef list_name, unsigned first);

/// What a triple says: "air64_v28-apple-macosx26.0.0" is macOS, 26.0.0, AIR 2.8 from its arch.
struct TripleParts {
  Platform platform = Platform::macos;
  Version os;
  std::optional<Version> arch_air;
  bool simulator = false;
};
std::optional<TripleParts> parse_triple(std::string_view triple);

/// Whether a module of this triple is already one for `target`: same platform, same OS major.
bool serves(std::string_view triple, const Target& target);

}  // namespace smelt::aot::air
