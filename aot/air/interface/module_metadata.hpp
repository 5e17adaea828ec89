// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The strings and nodes by which an AIR module says what it is (docs/formats/air.md 1.1, 1.2).
#pragma once

#include "smelt/aot/target.hpp"

#include <optional>
#include <string>

namespace llvm {
class Module;
}

namespace smelt::aot::air {

/// !air.version and !air.language_version; empty when absent or malformed.
std::optional<Version> air_version(const llvm::Module& module);
std::optional<Version> language_version(const llvm::Module& module);

/// Everything that says for whom a module is, as the pass module_metadata writes it on what is new.
struct ModuleVersions {
  Version language;
  bool fast_math = false;
  bool keep_debug = false;
};
void write_module_metadata(llvm::Module& module, const Target& target, const ModuleVersions& versions);

/// Whether Apple's compiler wrote it (!llvm.ident).
bool made_by_apple(const llvm::Module& module);

/// What a triple says: "air64_v28-apple-macosx26.0.0" is macOS, 26.0.0, AIR 2.8 from its arch.
struct TripleParts {
  Platform platform = Platform::macos;
  Version os;
  std::optional<Version> arch_air;
  bool simulator = false;
};
std::optional<TripleParts> parse_triple(std::string_view triple);

/// Whether a module of this triple is already one for `target`: same platform or simulator, same OS version but for the
/// patch.
bool serves(std::string_view triple, const Target& target);

}  // namespace smelt::aot::air
