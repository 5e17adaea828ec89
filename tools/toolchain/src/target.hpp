// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For which system and language: out of options, the SDK and the environment, as Apple's driver weighs them.
#pragma once

#include "smelt/aot/target.hpp"

#include "options.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smelt::toolchain {

/// A platform, or its simulator.
struct System {
  Platform platform = Platform::macos;
  bool simulator = false;
  bool operator==(const System&) const = default;
};

struct Wanted {
  aot::Target target;
  bool is_explicit = false;  ///< the command line or the environment names it
  std::optional<Version> language;
  std::vector<std::string> warnings;
};

/// In this order: -target, -m...-version-min=, MACOSX_DEPLOYMENT_TARGET, IPHONEOS_... and TVOS_DEPLOYMENT_TARGET (for
/// the SDK's platform), the platform in -std=, -isysroot or SDKROOT, the SDK's version (sdk_version). A language that
/// is newer than that target's makes the target the first that has it.
Result<Wanted> choose_target(std::span<const Argument> arguments);

/// The target of LLVM IR: the system of its own triple, unless the command line or the environment names one.
aot::Target target_of_ir(const Wanted& wanted, ByteView text);

/// The system by the name of an SDK or its folder: "macosx14.0", ".../iPhoneOS17.0.sdk". Errors: other platforms.
Result<System> system_of_sdk(std::string_view sdk);
/// Those that there are SDKs of.
std::span<const System> systems();
/// "macosx", "iphoneos", "appletvos", "iphonesimulator", "appletvsimulator".
std::string_view sdk_name(const System& system);
/// "14.0": of the default target of a platform, unless SMELT_SDK_VERSION says otherwise. It is what is compiled for
/// when nothing else says a version.
std::string sdk_version(const System& system);
/// "MacOSX14.0.sdk".
std::string sdk_folder(const System& system);

}  // namespace smelt::toolchain
